// thalweg tune: measures a file system, and saves the results for the library.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thalweg/storage.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "command.hpp"
#include "common.hpp"
#include "measure.hpp"
#include "text.hpp"
#include "threads.hpp"
#include "tune_measure.hpp"
#include "tune_profile.hpp"

namespace tool {
namespace {

struct Options {
  std::string folder;
  bool show = false, dry_run = false, quick = false;
  bool read = false, write = false, no_methods = false;
  std::string program, mpiexec;
  double seconds = 85;
  uint64_t bytes = 0;  // 0: the default
  uint64_t tasks = 0, extents = 1, length = kMiB, stride = 0;
  int repetitions = 5;
};

constexpr int kMostThreads = 64;             // threads of the storage measurements
constexpr int64_t kRoomBeside = 160 * kMiB;  // for files written by ranks
constexpr int64_t kBytes = 256 * kMiB, kQuickBytes = 64 * kMiB;
constexpr double kQuickSeconds = 30;
constexpr double kShareOfStorage = 0.5;  // of the time; the unused part goes to ranks
constexpr double kLeastSeconds = 10;     // for ranks, unless their share is smaller

// ---- Measuring --------------------------------------------------------------------------------------------------

Json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

Json measurements(const Measured& found) {
  Json speeds = Json::array(), points = Json::array(), contests = Json::array();
  for (const Speed& speed : found.speeds)
    speeds.push_back({{"what", speed.what}, {"mib_per_s", json_of(speed.mib_per_s)}});
  for (const DirectPoint& point : found.points)
    points.push_back({{"queue_depth", point.depth},
                      {"transfer_bytes", point.transfer_bytes},
                      {"write_mib_per_s", json_of(point.write)},
                      {"read_mib_per_s", json_of(point.read)}});
  for (const Contest& each : found.contests)
    contests.push_back({{"direction", each.writes ? "write" : "read"},
                        {"new_file", each.fresh},
                        {"tasks", each.tasks},
                        {"plain_mib_per_s", json_of(each.plain)},
                        {"buffered_mib_per_s", json_of(each.buffered)},
                        {"direct_mib_per_s", json_of(each.direct)},
                        {"direct_gain", each.gain}});
  Json files = Json::array();
  for (const FilesSpeed& each : found.files)
    files.push_back({{"files", each.files}, {"tasks", each.tasks}, {"mib_per_s", json_of(each.mib_per_s)}});
  return {{"page_cache", speeds}, {"direct", points}, {"contests", contests}, {"files", files}};
}

// A speed as "median (least..most)".
std::string cell_text(const Json& value) {
  if (value.is_object() && value["median"] > 0)
    return fmt::format("{:.0f} ({:.0f}..{:.0f})", value["median"].get<double>(), value["least"].get<double>(),
                       value["most"].get<double>());
  if (value.is_object()) return "-";
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Objects as a table: a column for each member.
void print_table(const std::string& title, const Json& rows) {
  if (rows.empty()) return;
  std::vector<std::vector<std::string>> lines(rows.size() + 1);
  for (const auto& [name, value] : rows[0].items()) lines[0].push_back(name);
  for (size_t i = 0; i < rows.size(); ++i)
    for (const Json& value : rows[i]) lines[i + 1].push_back(printable(cell_text(value)));
  put(fmt::format("\n{}\n", title));
  for (const std::vector<std::string>& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      size_t width = 0;
      for (const auto& other : lines) width = std::max(width, c < other.size() ? other[c].size() : 0);
      put(fmt::format("  {:>{}}", line[c], width));
    }
    put("\n");
  }
}

void print_costs(const char* name, const Json& costs) {
  put(fmt::format("  {}", name));
  const char* separator = ": ";
  for (const auto& [key, value] : costs.items()) {
    put(fmt::format("{}{} {}", separator, key, value.dump()));
    separator = ", ";
  }
  put("\n");
}

void print_measurements(const Measured& found, const Json& ranks) {
  const Json tables = measurements(found);
  print_table("page cache, system calls", tables["page_cache"]);
  print_table("direct I/O of the library", tables["direct"]);
  print_table("system calls (plain), and the library through the page cache (buffered) and past it (direct)",
              tables["contests"]);
  print_table("all threads, writing to several files", tables["files"]);
  put(fmt::format("\n{:.0f} new files per second\n", 1e9 / found.create_ns));
  print_table("messages between ranks", ranks.value("network", Json::array()));
  if (ranks.contains("model_error") && ranks["model_error"].is_number())
    put(fmt::format("{} methods in {} cells: median error of the model in cells left out {:.0f} %\n",
                    ranks.value("methods", 0), ranks.value("cells", 0), 100 * ranks["model_error"].get<double>()));
}

const char* on_off(const Json& value) { return value.is_boolean() && value.get<bool>() ? "where cheaper" : "never"; }

void print_entry(const Json& entry) {
  const auto number = [&](const char* name) {
    return entry.contains(name) ? entry[name].dump() : std::string("default");
  };
  const auto size = [&](const char* name) {
    if (!entry.contains(name)) return std::string("the default size");
    return entry[name].is_number_integer() ? short_size(entry[name].get<int64_t>()) : entry[name].dump();
  };
  const auto direct = [&](const char* name) { return entry.contains(name) ? on_off(entry[name]) : "never"; };
  const std::string measured = entry.contains("measured") ? entry["measured"].dump() : "unknown";
  put(fmt::format("{} (measured {})\n", printable(entry["id"].dump()), printable(measured)));
  put(fmt::format("  direct reads: {}; direct writes: {}; {} transfers of {} in flight; {} of staging\n",
                  direct("direct_reads"), direct("direct_writes"), number("queue_depth"), size("transfer_bytes"),
                  size("staging_bytes")));
  put(fmt::format("  physical files of a multifile that gain 20 % on each node: {}\n", number("physical_files")));
  for (const char* name : {"buffered", "direct"})
    if (entry.contains(name) && entry[name].is_object()) print_costs(name, entry[name]);
}

// Changed decisions, as "name: old -> new".
std::vector<std::string> changes(const Json* before, const Json& after) {
  const Json defaults = {{"direct_reads", false},      {"direct_writes", false}, {"queue_depth", 4},
                         {"transfer_bytes", 4 * kMiB}, {"staging_bytes", kMiB},  {"physical_files", 1}};
  std::vector<std::string> lines;
  for (const auto& [name, value] : defaults.items()) {
    const Json& had = before != nullptr && before->contains(name) ? (*before)[name] : value;
    if (had != after[name]) lines.push_back(fmt::format("{}: {} -> {}", name, had.dump(), after[name].dump()));
  }
  return lines;
}

double time_for(const Options& options) {
  return options.quick ? std::min(options.seconds, kQuickSeconds) : options.seconds;
}

TuneOptions measuring(const Options& options, const Common& common) {
  TuneOptions how;
  how.folder = options.folder;
  how.bytes = options.quick ? kQuickBytes : kBytes;
  if (options.bytes > 0) how.bytes = static_cast<int64_t>(options.bytes) / kMiB * kMiB;
  how.tasks = std::min(cores(), kMostThreads);
  how.repetitions = options.repetitions;
  how.seconds = time_for(options) * (options.no_methods ? 1 : kShareOfStorage);
  how.quiet = common.quiet || common.json;
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(options.folder.c_str(), &info));
  how.has_direct = info.direct_alignment > 0;
  return how;
}

// The measurements with ranks: costs of messages, which the entry gets, and the times of methods, which the package
// keeps beside the profile.
Json measure_with_ranks(const Options& options, const std::string& profile, double seconds, bool quiet, Json& entry) {
  setenv("THALWEG_PROFILE", profile.c_str(), 1);  // ranks get a profile of their own
  std::vector<std::string> words = {"calibrate", options.folder,           "--seconds", fmt::format("{:.1f}", seconds),
                                    "--entry",   entry.dump(-1, ' ', true)};
  for (const auto& [given, word] :
       {std::pair(options.quick, "--quick"), std::pair(options.dry_run, "--dry-run"), std::pair(quiet, "--quiet")})
    if (given) words.emplace_back(word);
  if (!options.program.empty()) words.insert(words.end(), {"--program", options.program});
  if (!options.mpiexec.empty()) words.insert(words.end(), {"--mpiexec", options.mpiexec});
  try {
    Json found = measured(words);
    for (const char* costs : {"buffered", "direct"})
      if (entry.contains(costs)) entry[costs].update(found.value("costs", Json::object()));
    if (const Json network = found.value("network", Json::array()); !network.empty()) entry["network"] = network;
    return found;
  } catch (const Failure& failure) {
    return {{"remarks", {fmt::format("no measurements with ranks: {}", failure.what())}}};
  }
}

struct Outcome {
  TuneOptions how;
  Measured found;
  Json ranks = Json::object(), entry;
  std::vector<std::string> changes, remarks;
};

void print_outcome(const Options& options, const std::string& path, const Outcome& all) {
  put(fmt::format("'{}' is {}; {}, median of {}, {}\n", printable(options.folder), all.entry["id"].get<std::string>(),
                  short_size(all.how.bytes), all.how.repetitions, count_text(all.how.tasks, "thread")));
  print_measurements(all.found, all.ranks);
  for (const std::string& remark : all.remarks) put(fmt::format("{}\n", printable(remark)));
  put("\n");
  print_entry(all.entry);
  for (const std::string& line : all.changes) put(fmt::format("  changed: {}\n", line));
  put(fmt::format("{} '{}'\n", options.dry_run ? "not written to" : "written to", printable(path)));
}

void print_outcome_as_json(const Options& options, const std::string& path, const Outcome& all) {
  Json result = json_head("tune", options.folder);
  result["profile"] = path;
  result["stored"] = !options.dry_run;
  result["bytes"] = all.how.bytes;
  result["repetitions"] = all.how.repetitions;
  result["entry"] = all.entry;
  result["changes"] = all.changes;
  result["measured"] = measurements(all.found);
  result["physical_files"] = all.found.physical_files;
  result["model_error"] = all.ranks.value("model_error", Json());
  result["remarks"] = all.remarks;
  result["exit_code"] = 0;
  put_json(result);
}

int measure(const Options& options, const Common& common) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string identity = identity_of(options.folder);
  const std::string path = profile_path();
  Json profile = load_profile(path);
  Outcome all;
  all.how = measuring(options, common);
  check_room(options.folder, 2 * all.how.bytes + kRoomBeside);
  if (!options.dry_run) prepare_folder(path);
  setenv("THALWEG_PROFILE", "none", 1);  // the previous profile must not influence the measurements
  all.found = measure_storage(all.how);
  all.entry = entry_of(identity, all.found);
  if (all.found.late)
    all.remarks.push_back(
        fmt::format("the time limit of the storage, {:.0f} s, was reached: fewer repetitions, at least {}",
                    all.how.seconds, kLeastRepetitions));
  if (const int64_t n = all.found.physical_files; n > kFilesPerNode)
    all.remarks.push_back(fmt::format("{} files are 20 % faster than fewer: multifiles now use so many per node", n));
  const double used = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double least = std::min(kLeastSeconds, (1 - kShareOfStorage) * time_for(options));
  if (!options.no_methods)
    all.ranks = measure_with_ranks(options, path, std::max(least, time_for(options) - used), all.how.quiet, all.entry);
  for (const Json& remark : all.ranks.value("remarks", Json::array())) all.remarks.push_back(remark.get<std::string>());
  const Json* before = find_file_system(profile, identity);
  const std::vector<std::string> kept = keep_of_ranks(before, all.entry);
  if (!kept.empty()) all.remarks.push_back(fmt::format("kept from the previous profile: {}", fmt::join(kept, ", ")));
  all.changes = changes(before, all.entry);
  put_entry(profile, all.entry);
  if (!options.dry_run) store_profile(path, profile);
  if (common.json) {
    print_outcome_as_json(options, path, all);
  } else if (!common.quiet) {
    print_outcome(options, path, all);
  }
  return kFine;
}

// ---- Showing ----------------------------------------------------------------------------------------------------

std::string explanation(const Options& options, tw_direction direction) {
  tw_access_pattern access = {};
  access.struct_size = sizeof access;
  access.direction = direction;
  access.tasks = options.tasks == 0 ? cores() : static_cast<int64_t>(options.tasks);
  access.extents = static_cast<int64_t>(options.extents);
  access.length = static_cast<int64_t>(options.length);
  access.stride = static_cast<int64_t>(options.stride);
  std::string text(64 * 1024, '\0');
  check(tw_storage_explain(options.folder.c_str(), nullptr, &access, text.data(), text.size()));
  text.resize(text.find('\0'));
  return text;
}

int show(const Options& options, const Common& common) {
  const std::string path = profile_path();
  Json shown = Json::array();
  std::array<std::string, 2> explained;
  const Json profile = load_profile(path);
  if (options.folder.empty()) {
    for (const Json& entry : profile["file_systems"])
      if (entry.is_object() && entry.contains("id")) shown.push_back(entry);
  } else {
    const Json* entry = find_file_system(profile, identity_of(options.folder));
    if (entry != nullptr) shown.push_back(*entry);
    const bool both = options.read == options.write;
    if (both || options.write) explained[0] = explanation(options, TW_ACCESS_WRITE);
    if (both || options.read) explained[1] = explanation(options, TW_ACCESS_READ);
  }
  if (common.json) {
    Json result = json_head("tune", options.folder);
    result["profile"] = path;
    result["file_systems"] = shown;
    result["write"] = explained[0].empty() ? Json() : Json(explained[0]);
    result["read"] = explained[1].empty() ? Json() : Json(explained[1]);
    result["exit_code"] = 0;
    put_json(result);
    return kFine;
  }
  put(fmt::format("profile '{}': {}\n", printable(path), shown.empty() ? "no measurements" : "what was measured"));
  for (const Json& entry : shown) print_entry(entry);
  for (const std::string& text : explained)
    if (!text.empty()) put("\n" + text);
  return kFine;
}

int run(const Options& options, const Common& common) {
  if (options.show) return show(options, common);
  if (options.folder.empty()) throw Failure(kUsage, "the folder to measure is missing; see 'thalweg tune --help'");
  return measure(options, common);
}

Run add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  const CLI::Validator size = as_size();
  constexpr uint64_t kMost = uint64_t{1} << 60;
  plain_word(app.add_option("DIR", options->folder, "A folder on the file system")->type_name("DIR"));
  app.add_option("--size", options->bytes,
                 "Bytes of the scratch file, in whole MiB; default 256MiB, with --quick 64MiB")
      ->transform(size)
      ->check(CLI::Range(static_cast<uint64_t>(kMiB), kMost))
      ->type_name("SIZE");
  app.add_flag("--quick", options->quick, "A smaller scratch file, and fewer cells of methods");
  app.add_option("--seconds", options->seconds,
                 "Approximate time limit: after half of it fewer repetitions for the storage (at least 3), after it no "
                 "more cells of methods; default 85, with --quick at most 30")
      ->check(CLI::Range(1e-3, 1e6))
      ->type_name("S");
  app.add_flag("--no-methods", options->no_methods, "No measurements with several ranks: no messages, no methods");
  plain_word(app.add_option("--program", options->program, "Path of thalweg-probe; default: beside this command"))
      ->type_name("FILE");
  plain_word(app.add_option("--mpiexec", options->mpiexec, "Launcher of the ranks, with its options"))
      ->type_name("WORDS");
  app.add_option("--repetitions", options->repetitions, "Runs of each measurement; default 5")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  app.add_flag("--dry-run", options->dry_run, "Measure without saving");
  app.add_flag("--show", options->show, "Print the profile, and the plan of an access in DIR, without measuring");
  app.add_option("--tasks", options->tasks, "Tasks of that access; default: the threads of this machine")
      ->type_name("N");
  app.add_option("--extents", options->extents, "Extents per task; default 1")->type_name("N");
  app.add_option("--length", options->length, "Bytes of each extent; default 1MiB")->transform(size)->type_name("SIZE");
  app.add_option("--stride", options->stride, "Bytes between the starts of a task's extents; default: no holes")
      ->transform(size)
      ->type_name("SIZE");
  app.add_flag("--read", options->read, "Only reading");
  app.add_flag("--write", options->write, "Only writing");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kTune = {
    "tune",
    "Measure a file system, so that the library uses the fastest way there",
    "Measures with two scratch files in DIR, which are removed afterwards: the cost of calls, pieces and bytes through "
    "the page cache, the useful number of threads, and direct I/O in transfers of several sizes and depths. The result "
    "is an entry for the file system of DIR in the profile: the file named by the environment variable "
    "THALWEG_PROFILE, by default thalweg/storage.json in XDG_CONFIG_HOME or ~/.config. Programs started afterwards use "
    "it for shared files and multifiles.\n"
    "\nDirect I/O is enabled only where it was over 5 % faster than the page cache without a sync, and is then used "
    "for accesses large enough to benefit. The folder needs free space of twice --size plus 160 MiB, and memory of "
    "twice --size.\n"
    "\nThen, if 'thalweg-probe' is installed, and a Python with the packages of 'thalweg methods', measures with "
    "ranks: messages, the cost of two-phase I/O between "
    "ranks, and all methods of writing in some small cells, from which 'thalweg advise' predicts others.",
    "  command, exit_code, file: DIR\n"
    "  profile: path of the profile\n"
    "  stored: false with --dry-run\n"
    "  bytes, repetitions: of each measurement\n"
    "  entry: decisions for this file system (docs/design/storage.md)\n"
    "  changes: changed decisions, as text\n"
    "  measured: page_cache, direct, contests, files: speeds in MiB/s; physical_files: the most that gain 20 %\n"
    "  model_error: median relative error of the model on cells left out of the fit, or null\n"
    "  remarks: failed measurements, and parts kept from the previous profile, as text\n"
    "  With --show: file_systems: entries; write, read: plan of the access, or null\n",
    "  thalweg tune /scratch\n"
    "  thalweg tune --quick --dry-run .\n"
    "  thalweg tune --show /scratch --tasks 8 --extents 1000 --length 4KiB --stride 32KiB --write\n",
    add};

}  // namespace tool
