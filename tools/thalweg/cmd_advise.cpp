// thalweg advise: recommends a way of writing for a described program and machine.
#include <fmt/format.h>
#include <thalweg/storage.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "advise/advice.hpp"
#include "advise/output.hpp"
#include "advise/skeleton.hpp"
#include "advise/validation.hpp"
#include "command.hpp"
#include "common.hpp"
#include "methods/page.hpp"
#include "methods/plan.hpp"
#include "methods/surroundings.hpp"
#include "picture_file.hpp"
#include "text.hpp"
#include "tune_profile.hpp"

namespace tool {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr uint64_t kMostBytes = uint64_t{1} << 60;

struct Options {
  Request request;
  std::string folder, grid, from, html;
  uint64_t bytes = 0, memory = 0;
  double bandwidth = 0, create_rate = 0;
  bool no_code = false, force = false;
};

Json profile_here() {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(nullptr, &info));
  return *info.profile == '\0' ? Json{{"file_systems", Json::array()}} : load_profile(info.profile);
}

Json entry_of_identity(const Json& profile, const std::string& identity) {
  const Json* found = find_file_system(profile, identity);
  return found == nullptr ? Json() : *found;
}

// The entry of the only file system with methods in the profile; null: none.
Json only_entry(const Json& profile, std::string& identity) {
  Json only;
  for (const Json& entry : profile["file_systems"]) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) continue;
    if (!entry.contains("methods")) continue;
    if (!only.is_null()) throw Failure(kUsage, "several file systems were measured: select one with --dir DIR");
    only = entry;
    identity = entry["id"].get<std::string>();
  }
  return only;
}

Json entry_for(const std::string& folder, std::string& identity) {
  const Json profile = profile_here();
  if (folder.empty()) return only_entry(profile, identity);
  identity = identity_of(folder);
  return entry_of_identity(profile, identity);
}

// ---- Validation -------------------------------------------------------------------------------------------------

// The profile entry used for a comparison.
struct Compared {
  std::string identity;  // of the entry's file system
  Json entry;
  std::vector<std::string> notes;
};

std::string storage_of(const Results& results) {
  const Json::json_pointer where("/storage/identity");
  return results.run.contains(where) && results.run[where].is_string() ? results.run[where].get<std::string>()
                                                                       : std::string();
}

// The entry for the storage of the measured times, unless --dir names another one.
Compared compared_with(const Options& options, const Results& results) {
  Compared with;
  const std::string measured_on = storage_of(results);
  if (!options.folder.empty() || measured_on.empty()) {
    with.entry = entry_for(options.folder, with.identity);
    if (measured_on.empty())
      with.notes.push_back(fmt::format("'{}' does not name its storage: compared with the profile of '{}'",
                                       printable(options.from), printable(with.identity)));
    else if (measured_on != with.identity)
      with.notes.push_back(fmt::format("the times are of '{}', the predictions of '{}'", printable(measured_on),
                                       printable(with.identity)));
    return with;
  }
  with.identity = measured_on;
  with.entry = entry_of_identity(profile_here(), measured_on);
  if (with.entry.is_null())
    throw Failure(kInputOutput, fmt::format("'{}' has times of '{}', which is not in the profile: run 'thalweg tune' "
                                            "there, or name a folder of another file system with --dir",
                                            options.from, printable(measured_on)));
  return with;
}

// Writes the page of `thalweg methods`, with the plot of predicted against measured times.
void keep_page(const Options& options, const Results& results, const std::vector<ValidationPoint>& points) {
  if (options.html.empty()) return;
  check_folder_of(options.html);
  const bool replace = may_replace_picture(options.html, options.force, {options.from}, "file that is read");
  write_picture(options.html, html_page(results, points), replace);
}

int validate_file(const Options& options, const Common& common) {
  const Results results = load_results(options.from);
  const Compared with = compared_with(options, results);
  const std::vector<ValidationPoint> points = validate(results, with.entry);
  if (points.empty())
    throw Failure(kInputOutput, fmt::format("no time in '{}' can be predicted: {}", options.from,
                                            calibration_of(with.entry).empty()
                                                ? "methods were not measured here, run 'thalweg tune DIR'"
                                                : "its times are of another cache, or of methods that were not tuned"));
  keep_page(options, results, points);
  const ValidationSummary sum = summary_of(points);
  if (common.json) {
    Json result = json_head("advise", options.from);
    result["storage"] = with.identity;
    result["notes"] = with.notes;
    result["validation"] = json_of(sum);
    result["points"] = Json::array();
    for (const ValidationPoint& point : points) result["points"].push_back(json_of(point));
    result["exit_code"] = 0;
    put_json(result);
    return kFine;
  }
  if (common.quiet) return kFine;
  for (const std::string& note : with.notes) put(fmt::format("{}\n", note));
  print_validation(points, sum);
  return kFine;
}

// ---- Advice -------------------------------------------------------------------------------------------------------

int advise_on(const Options& options, const Common& common) {
  std::string identity;
  const Json entry = entry_for(options.folder, identity);
  const Machine machine = machine_of(identity, entry.is_null() ? nullptr : &entry, cores());
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
  print_advice(advice, request);
  if (!options.no_code) print_code(skeleton_of(advice.choices.front().method->id, request.language, request.phase));
  return kFine;
}

void take_grid(Request& request, const std::string& text) {
  for (const int64_t part : parse_extents(text, "--grid")) {
    if (part > kMostRanks)
      throw Failure(kUsage, fmt::format("--grid {}: there are at most {} ranks", text, kMostRanks));
    request.grid.push_back(static_cast<int>(part));
  }
}

int run(Options& options, const Common& common) {
  if (!options.from.empty()) return validate_file(options, common);
  if (!options.html.empty()) throw Failure(kUsage, "--html plots measured times: add --from FILE");
  Request& request = options.request;
  if (request.readers > 0 && request.phase != "restart")
    throw Failure(kUsage, fmt::format("--readers {} applies to a restart only: add --phase restart, or omit it",
                                      request.readers));
  if (options.bytes == 0) throw Failure(kUsage, "--bytes is missing; see 'thalweg advise --help'");
  request.bytes = static_cast<int64_t>(options.bytes);
  request.memory_per_node = static_cast<int64_t>(options.memory);
  request.storage_bandwidth = options.bandwidth;
  request.storage_create_rate = options.create_rate;
  if (!options.grid.empty()) take_grid(request, options.grid);
  return advise_on(options, common);
}

void add_machine(CLI::App& app, Options& options) {
  const CLI::Validator size = as_size();
  Request& request = options.request;
  app.add_option("--nodes", request.nodes, "Number of nodes; default 1")->check(CLI::Range(1, kMostRanks));
  app.add_option("--cores-per-node", request.cores_per_node,
                 "Default: those of the measured machine; with several nodes at least one per rank")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--memory-per-node", options.memory, "Default: not checked")
      ->transform(size)
      ->check(CLI::Range(uint64_t{0}, kMostBytes))
      ->type_name("SIZE");
  app.add_option("--storage-bandwidth", options.bandwidth,
                 "Bytes per second of the whole storage: 50GiB, 1.5GiB, or 50GB for 50e9 bytes")
      ->transform(as_fractional_size())
      ->check(CLI::Range(0.0, static_cast<double>(kMostBytes)))
      ->type_name("SIZE");
  app.add_option("--storage-create-rate", options.create_rate, "File creations per second of the whole storage")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--mpi", request.mpi, "MPI of the program")->check(CLI::IsMember({"mpich", "openmpi"}));
}

void add_program(CLI::App& app, Options& options) {
  const CLI::Validator size = as_size();
  const std::map<std::string, double> units = {{"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}};
  const auto seconds = CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_INSENSITIVE);
  Request& request = options.request;
  app.add_option("--ranks", request.ranks, "Ranks of the program; default 1")->check(CLI::Range(1, kMostRanks));
  app.add_option("--bytes", options.bytes, "Bytes of all ranks per output")
      ->transform(size)
      ->check(CLI::Range(uint64_t{1}, kMostBytes))
      ->type_name("SIZE");
  app.add_option("--pattern", request.pattern,
                 "Distribution of the data; default block2d. ragged is modelled with equal shares")
      ->check(CLI::IsMember({"block2d", "block3d", "rows", "task-local", "ragged"}));
  app.add_option("--grid", options.grid, "Grid of ranks, as 64x64; default: as even as possible")->type_name("PXxPY");
  app.add_option("--order", request.order, "Fastest index: the last (c) or the first (f)")
      ->check(CLI::IsMember({"c", "f"}));
  app.add_option("--phase", request.phase, "Phase to optimise; default write")
      ->check(CLI::IsMember({"write", "read", "restart"}));
  app.add_option("--readers", request.readers, "With --phase restart: ranks that read; default: half of --ranks")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--every", request.every_seconds, "Computation time between two outputs, as 60s or 5min")
      ->transform(seconds)
      ->check(CLI::PositiveNumber)
      ->type_name("TIME");
  app.add_option("--compute-seconds-per-step", request.compute_seconds_per_step,
                 "Computation time of the program in each step, in seconds")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  app.add_option("--language", request.language, "Language of the printed code; default c")
      ->check(CLI::IsMember({"c", "fortran", "python"}));
}

Run add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_program(app, *options);
  add_machine(app, *options);
  app.add_option("--dir", options->folder,
                 "Folder on the storage of the program; default: the measured storage, with --from that of FILE")
      ->type_name("DIR");
  app.add_option("--from", options->from,
                 "Compare predictions with the times in this file of 'thalweg methods --json' instead")
      ->type_name("FILE");
  app.add_option("--html", options->html, "With --from: write a page with the plot of predicted against measured times")
      ->type_name("FILE");
  app.add_flag("-f,--force", options->force, "Replace any existing file of --html");
  app.add_flag("--no-code", options->no_code, "Do not print an example program");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kAdvise = {
    "advise",
    "Predict the fastest way of writing, and print an example program",
    "Predicts the time of each method of 'thalweg methods' for a described program, from the measurements of 'thalweg "
    "tune' on the storage of --dir, and for several nodes by a simulation of the engine. Methods are listed from the "
    "fastest on, with the parts of their time and warnings.\n"
    "\nThe part that the computation of --every can hide is a comparison of seconds and assumes idle cores; see the "
    "overlap that 'thalweg methods' measures.\n"
    "\nFor a larger machine give --storage-bandwidth and --storage-create-rate. Without them the numbers of one node "
    "are scaled, with a note.\n"
    "\nWith --from FILE the model is compared with measured times instead, as text and with --html as a plot.",
    "  command, exit_code\n"
    "  cell, phase: of the prediction\n"
    "  storage: the file system; measured: false for a typical machine\n"
    "  best, best_array: methods; the fastest of all, and of those that leave one file that is the array\n"
    "  model: cells, largest_bytes; median_error: on the cells it was fitted to; left_out_error: on each cell, fitted "
    "to the others\n"
    "  ties: methods equal to the best within the model's error; none without a profile\n"
    "  choices: method, title, seconds, parts, reason, warnings; from the fastest on, those within 1 % by the node's "
    "own time\n"
    "  out: method, why\n"
    "  notes, duty: text\n"
    "  code: file, remark, text\n"
    "  With --from: validation: points, median_error, choices, good_choices, worst_choice; points: each of them\n"
    "  storage, notes: the profile entry used\n",
    "  thalweg advise --ranks 8 --bytes 256MiB\n"
    "  thalweg advise --ranks 4096 --nodes 128 --bytes 2TiB --pattern block2d --storage-bandwidth 50GiB --every 60s\n"
    "  thalweg advise --from results.jsonl --html predicted.html\n",
    add};

}  // namespace tool
