// thalweg advise: which way of writing, for a program and a machine that are described.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <thalweg/storage.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <thread>

#include "advise/advice.hpp"
#include "advise/skeleton.hpp"
#include "advise/validation.hpp"
#include "command.hpp"
#include "common.hpp"
#include "methods/plan.hpp"
#include "text.hpp"
#include "tune_profile.hpp"

namespace tool {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr size_t kShown = 3;  // whose warnings are printed

struct Options {
  Request request;
  std::string folder, grid, from;
  uint64_t bytes = 0, memory = 0, bandwidth = 0;
  double create_rate = 0;
  bool no_code = false;
};

std::string identity_of(const std::string& folder) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) fail_with_errno("look at folder", folder);
  if (!S_ISDIR(status.st_mode)) throw Failure(kInputOutput, fmt::format("'{}' is no folder", folder));
  char text[256];
  check(tw_storage_identity(folder.c_str(), text, sizeof text));
  return text;
}

int cores_here() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

// The entry of the profile for the folder, or of the only file system with methods in it; null: nothing was measured.
Json entry_for(const std::string& folder, std::string& identity) {
  char path[4096 + 64];
  check(tw_storage_profile_path(path, sizeof path));
  const Json profile = *path == '\0' ? Json{{"file_systems", Json::array()}} : load_profile(path);
  if (!folder.empty()) {
    identity = identity_of(folder);
    const Json* found = find_file_system(profile, identity);
    return found == nullptr ? Json() : *found;
  }
  Json only;
  for (const Json& entry : profile["file_systems"]) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) continue;
    if (!entry.contains("methods")) continue;
    if (!only.is_null()) throw Failure(kUsage, "several file systems were measured: say which one with --dir DIR");
    only = entry;
    identity = entry["id"].get<std::string>();
  }
  return only;
}

// ---- Validation -------------------------------------------------------------------------------------------------

Json json_of(const ValidationSummary& sum) {
  return {{"points", sum.points},
          {"median_error", sum.median_error},
          {"choices", sum.choices},
          {"good_choices", sum.good_choices},
          {"worst_choice", sum.worst_choice},
          {"only_tuning_cells", sum.of_tuning}};
}

Json json_of(const ValidationPoint& point) {
  return {{"method", point.method},
          {"phase", point.phase},
          {"cell", json_of(point.cell)},
          {"predicted_seconds", point.predicted_seconds},
          {"measured_seconds", point.measured_seconds},
          {"used_for_tuning", point.used_for_tuning}};
}

void print_validation(const std::vector<ValidationPoint>& points, const ValidationSummary& sum) {
  put(fmt::format("{:<28} {:<8} {:>12} {:>12} {:>8}  {}\n", "method", "phase", "predicted", "measured", "ratio",
                  "cell"));
  for (const ValidationPoint& point : points)
    put(fmt::format("{:<28} {:<8} {:>10.3f}ms {:>10.3f}ms {:>8.2f}  {}{}\n", point.method, point.phase,
                    1e3 * point.predicted_seconds, 1e3 * point.measured_seconds,
                    point.predicted_seconds / point.measured_seconds, cell_text(point.cell),
                    point.used_for_tuning ? " (tuned with)" : ""));
  put(fmt::format("\n{} times{}: median error {:.0f} %\n", sum.points,
                  sum.of_tuning ? ", all of them tuned with" : " that were not tuned with", 100 * sum.median_error));
  if (sum.choices > 0)
    put(fmt::format(
        "the named method is within 10 % of the best in {} of {} cells ({:.0f} %); at worst {:.2f} times as "
        "slow\n",
        sum.good_choices, sum.choices, 100.0 * static_cast<double>(sum.good_choices) / static_cast<double>(sum.choices),
        sum.worst_choice));
}

int validate_file(const Options& options, const Common& common) {
  const Results results = load_results(options.from);
  std::string identity;
  const Json entry = entry_for(options.folder, identity);
  const std::vector<ValidationPoint> points = validate(results, entry);
  if (points.empty())
    throw Failure(kInputOutput, fmt::format("nothing in '{}' can be predicted: {}", options.from,
                                            calibration_of(entry).empty()
                                                ? "methods were not measured here, run 'thalweg tune DIR'"
                                                : "its times are of another cache, or of methods that were not tuned"));
  const ValidationSummary sum = summary_of(points);
  if (common.json) {
    Json result = json_head("advise", options.from);
    result["validation"] = json_of(sum);
    result["points"] = Json::array();
    for (const ValidationPoint& point : points) result["points"].push_back(json_of(point));
    result["exit_code"] = 0;
    put_json(result);
    return kFine;
  }
  if (!common.quiet) print_validation(points, sum);
  return kFine;
}

// ---- Advice -------------------------------------------------------------------------------------------------------

Json json_of(const Choice& choice) {
  Json parts = Json::array();
  for (const Part& part : choice.parts) parts.push_back({{"what", part.what}, {"seconds", part.seconds}});
  return {{"method", choice.method->id}, {"title", choice.method->title}, {"seconds", choice.seconds}, {"parts", parts},
          {"reason", choice.reason},     {"warnings", choice.warnings}};
}

Json json_of(const Advice& advice, const Request& request, const Machine& machine) {
  Json result = json_head("advise", "");
  result["cell"] = json_of(advice.cell);
  result["phase"] = request.phase;
  result["storage"] = machine.identity.empty() ? Json() : Json(machine.identity);
  result["measured"] = machine.measured;
  result["best"] = advice.choices.front().method->id;
  result["best_array"] = advice.one_array == nullptr ? Json() : Json(advice.one_array->method->id);
  result["choices"] = Json::array();
  for (const Choice& choice : advice.choices) result["choices"].push_back(json_of(choice));
  result["out"] = Json::array();
  for (const Ruled& ruled : advice.out) result["out"].push_back({{"method", ruled.method->id}, {"why", ruled.why}});
  result["notes"] = advice.notes;
  result["duty"] = duty_of(advice, request);
  const Skeleton code = skeleton_of(advice.choices.front().method->id, request.language);
  result["code"] = {{"file", code.name}, {"remark", code.remark}, {"text", code.text}};
  result["exit_code"] = 0;
  return result;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 600) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} min", seconds / 60);
}

void print_choices(const Advice& advice) {
  put(fmt::format("{:>3} {:<40} {:>9}  {}\n", "", "method", "time", "made of"));
  size_t place = 0;
  for (const Choice& choice : advice.choices) {
    put(fmt::format("{:>3} {:<40} {:>9}  {}\n", ++place, choice.method->title, time_text(choice.seconds),
                    choice.reason));
    if (place > kShown) continue;
    for (const std::string& warning : choice.warnings) put(fmt::format("      mind: {}\n", warning));
  }
  for (const Ruled& ruled : advice.out) put(fmt::format("  - {:<40} {}\n", ruled.method->title, ruled.why));
}

void print_conclusion(const Advice& advice, const Request& request) {
  const Choice& best = advice.choices.front();
  put(fmt::format("\nuse: {} ({})\n", best.method->title, best.method->id));
  if (request.is_array() && advice.one_array != nullptr && advice.one_array != &best)
    put(fmt::format("for one file that is the array: {} ({}), {:.2f} times as long\n", advice.one_array->method->title,
                    advice.one_array->method->id, advice.one_array->seconds / best.seconds));
  for (const std::string& line : duty_of(advice, request)) put(fmt::format("  {}\n", line));
}

int advise_on(const Options& options, const Common& common) {
  std::string identity;
  const Json entry = entry_for(options.folder, identity);
  const Machine machine = machine_of(identity, entry.is_null() ? nullptr : &entry, cores_here());
  Advice advice = advise(options.request, machine);
  const Request& request = options.request;
  const std::string& mpi = machine.calibration.mpi;
  const std::string named = request.mpi == "openmpi" ? "open mpi" : request.mpi;
  if (!request.mpi.empty() && CLI::detail::to_lower(mpi).find(named) == std::string::npos)
    advice.notes.push_back(fmt::format("{} was not measured here{}: its times may differ", request.mpi,
                                       mpi.empty() ? "" : ", but '" + printable(mpi) + "'"));
  if (common.json) {
    put_json(json_of(advice, request, machine));
    return kFine;
  }
  if (common.quiet) {
    put(fmt::format("{}\n", advice.choices.front().method->id));
    return kFine;
  }
  put(fmt::format("{} of {} by {} on {}: {}\n", request.phase, short_size(request.bytes),
                  count_text(request.ranks, "rank"), count_text(request.nodes, "node"),
                  request.is_array() ? cell_text(advice.cell) : request.pattern));
  for (const std::string& note : advice.notes) put(fmt::format("  {}\n", note));
  put("\n");
  print_choices(advice);
  print_conclusion(advice, request);
  if (options.no_code) return kFine;
  const Skeleton code = skeleton_of(advice.choices.front().method->id, request.language);
  put(fmt::format("\n---- {}{} ----\n{}", code.name, code.remark.empty() ? "" : " (" + code.remark + ")", code.text));
  return kFine;
}

int run(Options& options, const Common& common) {
  if (!options.from.empty()) return validate_file(options, common);
  Request& request = options.request;
  if (options.bytes == 0) throw Failure(kUsage, "how many bytes? see --bytes, and 'thalweg advise --help'");
  request.bytes = static_cast<int64_t>(options.bytes);
  request.memory_per_node = static_cast<int64_t>(options.memory);
  request.storage_bandwidth = static_cast<double>(options.bandwidth);
  request.storage_create_rate = options.create_rate;
  if (!options.grid.empty())
    for (const int64_t part : parse_extents(options.grid, "--grid")) request.grid.push_back(static_cast<int>(part));
  return advise_on(options, common);
}

void add_machine(CLI::App& app, Options& options) {
  const auto size = CLI::AsSizeValue(false);
  Request& request = options.request;
  app.add_option("--nodes", request.nodes, "Nodes that they are on; default 1")->check(CLI::Range(1, kMostRanks));
  app.add_option("--cores-per-node", request.cores_per_node,
                 "Default: those of the machine that was measured; of more nodes at least one for each rank")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--memory-per-node", options.memory, "Default: not looked at")->transform(size)->type_name("SIZE");
  app.add_option("--storage-bandwidth", options.bandwidth, "Of the whole storage, per second, as 50GB")
      ->transform(size)
      ->type_name("SIZE");
  app.add_option("--storage-create-rate", options.create_rate, "New files per second of the whole storage")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--mpi", request.mpi, "Which MPI will be used")->check(CLI::IsMember({"mpich", "openmpi"}));
}

void add_program(CLI::App& app, Options& options) {
  const auto size = CLI::AsSizeValue(false);
  const std::map<std::string, double> units = {{"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}};
  const auto seconds = CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_INSENSITIVE);
  Request& request = options.request;
  app.add_option("--ranks", request.ranks, "Ranks of the program; default 1")->check(CLI::Range(1, kMostRanks));
  app.add_option("--bytes", options.bytes, "Of all ranks, in one output")->transform(size)->type_name("SIZE");
  app.add_option("--pattern", request.pattern, "Whose bytes lie where; default block2d")
      ->check(CLI::IsMember({"block2d", "block3d", "rows", "task-local", "ragged"}));
  app.add_option("--grid", options.grid, "Of ranks, as 64x64; default: as equal as possible")->type_name("PXxPY");
  app.add_option("--order", request.order, "Which index changes fastest: the last (c), the first (f)")
      ->check(CLI::IsMember({"c", "f"}));
  app.add_option("--phase", request.phase, "What is to be quick; default write")
      ->check(CLI::IsMember({"write", "read", "restart"}));
  app.add_option("--readers", request.readers, "Ranks of a restart; default: half of --ranks")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--every", request.every_seconds, "Time from one output to the next, as 60s or 5min")
      ->transform(seconds)
      ->check(CLI::PositiveNumber)
      ->type_name("TIME");
  app.add_option("--compute-seconds-per-step", request.compute_seconds_per_step, "Of the program")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  app.add_option("--language", request.language, "Of the code that is printed; default c")
      ->check(CLI::IsMember({"c", "fortran", "python"}));
}

Run add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_program(app, *options);
  add_machine(app, *options);
  app.add_option("--dir", options->folder, "On the storage that will be used; default: the one that was measured")
      ->type_name("DIR");
  app.add_option("--from", options->from,
                 "Instead: compare predictions with the times in this file of 'thalweg methods --json'")
      ->type_name("FILE");
  app.add_flag("--no-code", options->no_code, "No program to begin with");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kAdvise = {
    "advise",
    "Predict which way of writing is quickest, and print a program to begin with",
    "Predicts how long each method of 'thalweg methods' takes for a program that is described, from what 'thalweg "
    "tune' "
    "measured on the storage of --dir, and for more than one node by a simulation of the engine on as many tasks. "
    "Methods are listed from the quickest on, with what their time is made of and what to mind.\n\n"
    "Of a larger machine nobody has measured the storage: give --storage-bandwidth and --storage-create-rate. Without "
    "them one node's numbers are scaled, which is said.\n\n"
    "With --from FILE nothing is advised: the model is compared with what was measured.",
    "  command, exit_code\n"
    "  cell, phase: what is predicted\n"
    "  storage: the file system; measured: false where guesses are used\n"
    "  best, best_array: methods; the quickest of all, and of those that leave one file that is the array\n"
    "  choices: method, title, seconds, parts, reason, warnings; from the quickest on\n"
    "  out: method, why\n"
    "  notes, duty: text\n"
    "  code: file, remark, text\n"
    "  With --from: validation: points, median_error, choices, good_choices, worst_choice; points: each of them\n",
    "  thalweg advise --ranks 8 --bytes 256MiB\n"
    "  thalweg advise --ranks 4096 --nodes 128 --bytes 2TiB --pattern block2d --storage-bandwidth 50GB --every 60s\n"
    "  thalweg advise --from results.jsonl --dir /scratch\n",
    add};

}  // namespace tool
