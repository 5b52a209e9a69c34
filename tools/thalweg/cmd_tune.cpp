// thalweg tune: measures a file system, and saves the results for the library.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

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
  TuneOptions how;
  bool show = false, dry_run = false, quick = false, no_methods = false;
  std::string program, mpiexec;
  double seconds = 85;
  uint64_t size = 0;              // 0: the default
  tw_access_pattern access = {};  // shown
};

constexpr int kMostThreads = 64;             // threads of the storage measurements
constexpr int64_t kRoomBeside = 160 * kMiB;  // for files written by ranks
constexpr int64_t kBytes = 256 * kMiB, kQuickBytes = 64 * kMiB;
constexpr double kQuickSeconds = 30;
constexpr double kShareOfStorage = 0.5;  // of the time; the unused part goes to ranks
constexpr double kLeastSeconds = 10;     // for ranks, unless their share is smaller

// ---- Measuring --------------------------------------------------------------------------------------------------

std::string text_of(const Measured& found) {
  std::string text = "\nMiB/s: median (least..most)\n";
  for (const Json& speed : found.speeds) {
    const Json& mib = speed["mib_per_s"];
    text += fmt::format("  {:>6.0f} ({:>5.0f}..{:>5.0f}) {}\n", mib["median"].get<double>(), mib["least"].get<double>(),
                        mib["most"].get<double>(), speed["what"].get<std::string>());
  }
  for (const auto& [direction, gain] : found.gains.items())
    text += fmt::format("direct I/O, {}: at least {:.2f} times as fast\n", direction, gain.get<double>());
  return text;
}

// An entry of a profile, a line for each member.
std::string text_of(const Json& entry) {
  std::string text;
  for (const auto& [name, value] : entry.items())
    text += fmt::format("{}{}: {}\n", name == "id" ? "" : "  ", printable(name), printable(value.dump()));
  return text;
}

// Throws Failure unless the file system of `folder` has that much space.
void check_room(const std::string& folder, int64_t bytes) {
  const auto room = static_cast<int64_t>(std::min<uintmax_t>(std::filesystem::space(folder).available, INT64_MAX));
  if (room < bytes)
    throw Failure(kInputOutput, fmt::format("'{}' has {} of free space, {} are needed; see --size", folder,
                                            short_size(room), short_size(bytes)));
}

// Completes what the parser has read.
void complete(Options& options, const Common& common) {
  TuneOptions& how = options.how;
  if (options.quick) options.seconds = std::min(options.seconds, kQuickSeconds);
  how.bytes = options.quick ? kQuickBytes : kBytes;
  if (options.size > 0) how.bytes = static_cast<int64_t>(options.size) / kMiB * kMiB;
  how.tasks = std::min(cores(), kMostThreads);
  how.seconds = options.seconds * (options.no_methods ? 1 : kShareOfStorage);
  how.quiet = common.quiet || common.json;
  how.has_direct = storage_of(how.folder).direct_alignment > 0;
}

// The measurements with ranks: costs of messages, which the entry gets, and the times of methods, which the package
// keeps beside the profile.
Json measure_with_ranks(const Options& options, const std::string& profile, double seconds, bool quiet, Json& entry) {
  setenv("THALWEG_PROFILE", profile.c_str(), 1);  // ranks get a profile of their own
  std::vector<std::string> words = {"calibrate", options.how.folder,       "--seconds", fmt::format("{:.1f}", seconds),
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

int measure(Options options, const Common& common) {
  const TuneOptions& how = options.how;
  if (how.folder.empty()) throw Failure(kUsage, "the folder to measure is missing; see 'thalweg tune --help'");
  Lap lap;
  const std::string identity = storage_of(how.folder).identity;
  const std::string path = profile_path();
  Json profile = load_profile(path);
  complete(options, common);
  check_room(how.folder, 2 * how.bytes + kRoomBeside);
  if (!options.dry_run) prepare_folder(path);
  setenv("THALWEG_PROFILE", "none", 1);  // the previous profile must not influence the measurements
  const Measured found = measure_storage(how);
  Json entry = {{"id", identity},
                {"kind", identity.substr(0, identity.find('-'))},
                {"measured", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  entry.update(found.entry);
  std::vector<std::string> remarks;
  if (found.late)
    remarks.push_back(
        fmt::format("the time limit of the storage, {:.0f} s, was reached: fewer repetitions, at least {}", how.seconds,
                    kLeastRepetitions));
  const double least = std::min(kLeastSeconds, (1 - kShareOfStorage) * options.seconds);
  Json ranks = Json::object();
  if (!options.no_methods)
    ranks = measure_with_ranks(options, path, std::max(least, options.seconds - lap()), how.quiet, entry);
  for (const Json& remark : ranks.value("remarks", Json::array())) remarks.push_back(remark.get<std::string>());
  if (put_entry(profile, entry)) remarks.push_back("what was not measured anew is kept from the previous profile");
  if (!options.dry_run) store_profile(path, profile);

  const Json members = {{"profile", path},
                        {"stored", !options.dry_run},
                        {"bytes", how.bytes},
                        {"repetitions", how.repetitions},
                        {"entry", entry},
                        {"measured", found.speeds},
                        {"direct_gains", found.gains},
                        {"fit_error", ranks.value("fit_error", Json())},
                        {"remarks", remarks},
                        {"exit_code", 0}};
  std::string text = fmt::format("'{}' is {}; {}, median of {}, {}\n", printable(options.how.folder), identity,
                                 short_size(how.bytes), how.repetitions, count_text(how.tasks, "thread"));
  text += text_of(found);
  if (const Json& error = members["fit_error"]; error.is_number())
    text += fmt::format("median error of the fit: {:.0f} %\n", 100 * error.get<double>());
  for (const std::string& remark : remarks) text += printable(remark) + "\n";
  text += "\n" + text_of(entry);
  text += fmt::format("{} '{}'\n", options.dry_run ? "not written to" : "written to", printable(path));
  put_result(common, json_head("tune", options.how.folder), members, text);
  return kFine;
}

// ---- Showing ----------------------------------------------------------------------------------------------------

std::string explanation(const Options& options, tw_direction direction) {
  tw_access_pattern access = options.access;
  access.direction = direction;
  std::string text(64 * 1024, '\0');
  check(tw_storage_explain(options.how.folder.c_str(), nullptr, &access, text.data(), text.size()));
  text.resize(text.find('\0'));
  return text;
}

int show(const Options& options, const Common& common) {
  const std::string path = profile_path();
  Json profile = load_profile(path);
  Json members = {
      {"profile", path}, {"file_systems", Json::array()}, {"write", nullptr}, {"read", nullptr}, {"exit_code", 0}};
  Json& shown = members["file_systems"];
  if (options.how.folder.empty()) {
    for (const Json& entry : profile["file_systems"])
      if (entry.is_object() && entry.contains("id")) shown.push_back(entry);
  } else {
    if (const Json* entry = find_file_system(profile, storage_of(options.how.folder).identity)) shown.push_back(*entry);
    members["write"] = explanation(options, TW_ACCESS_WRITE);
    members["read"] = explanation(options, TW_ACCESS_READ);
  }
  std::string text =
      fmt::format("profile '{}': {}\n", printable(path), shown.empty() ? "no measurements" : "what was measured");
  for (const Json& entry : shown) text += text_of(entry);
  for (const char* direction : {"write", "read"})
    if (members[direction].is_string()) text += "\n" + members[direction].get<std::string>();
  put_result(common, json_head("tune", options.how.folder), members, text);
  return kFine;
}

Run add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  tw_access_pattern& access = options->access;
  access.struct_size = sizeof access;
  access.tasks = cores();
  access.extents = 1;
  access.length = kMiB;
  const CLI::Validator size = as_size();
  constexpr uint64_t kMost = uint64_t{1} << 60;
  plain_word(app.add_option("DIR", options->how.folder, "A folder on the file system")->type_name("DIR"));
  app.add_option("--size", options->size, "Bytes of the scratch file, in whole MiB; default 256MiB, with --quick 64MiB")
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
  app.add_option("--repetitions", options->how.repetitions, "Runs of each measurement; default 5")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  app.add_flag("--dry-run", options->dry_run, "Measure without saving");
  app.add_flag("--show", options->show, "Print the profile, and the plan of an access in DIR, without measuring");
  app.add_option("--tasks", access.tasks, "Tasks of that access; default: the threads of this machine")->type_name("N");
  app.add_option("--extents", access.extents, "Extents per task; default 1")->type_name("N");
  app.add_option("--length", access.length, "Bytes of each extent; default 1MiB")->transform(size)->type_name("SIZE");
  app.add_option("--stride", access.stride, "Bytes between the starts of a task's extents; default: no holes")
      ->transform(size)
      ->type_name("SIZE");
  return [options](const Common& common) { return options->show ? show(*options, common) : measure(*options, common); };
}

}  // namespace

const Command kTune = {
    "tune",
    "Measure a file system, so that the library uses the fastest way there",
    "Measures with two scratch files in DIR, which are removed afterwards: calls, pieces and bytes through the page "
    "cache, the useful number of threads and files, and direct I/O. The result is an entry for the file system of DIR "
    "in the profile: the file named by the environment variable THALWEG_PROFILE, by default thalweg/storage.json in "
    "XDG_CONFIG_HOME or ~/.config. Programs started afterwards use it for shared files and multifiles. The folder "
    "needs free space of twice --size plus 160 MiB, and memory of twice --size.\n"
    "\nThen, if 'thalweg-probe' is installed, and a Python with the packages of 'thalweg methods', measures with "
    "ranks: "
    "messages, two-phase I/O, and all methods of writing in some small cells, from which 'thalweg advise' predicts "
    "others (docs/howto/tune.md).",
    "  command, exit_code, file: DIR\n"
    "  profile: path of the profile\n"
    "  stored: false with --dry-run\n"
    "  bytes, repetitions: of each measurement\n"
    "  entry: decisions for this file system (docs/design/storage.md)\n"
    "  measured: what, mib_per_s: median, least, most\n"
    "  direct_gains: write, read: the least speed of direct I/O relative to the page cache, where there is direct I/O\n"
    "  fit_error: median relative error of the model on the cells that it was fitted to, or null\n"
    "  remarks: failed measurements, and parts kept from the previous profile, as text\n"
    "  With --show: file_systems: entries; write, read: plan of the access, or null\n",
    "  thalweg tune /scratch\n"
    "  thalweg tune --quick --dry-run .\n"
    "  thalweg tune --show /scratch --tasks 8 --extents 1000 --length 4KiB --stride 32KiB\n",
    add};

}  // namespace tool
