// thalweg methods: measures all ways of writing a distributed array, and draws the results.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <thalweg/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "advise/validation.hpp"
#include "command.hpp"
#include "common.hpp"
#include "methods/campaign.hpp"
#include "methods/method_table.hpp"
#include "methods/page.hpp"
#include "methods/records.hpp"
#include "methods/scratch_folder.hpp"
#include "methods/surroundings.hpp"
#include "methods/table.hpp"
#include "picture_file.hpp"
#include "text.hpp"
#include "tune_profile.hpp"

namespace tool {
namespace {

struct Options {
  std::string folder = ".", ranks, grid;
  std::vector<std::string> sizes, orders, methods, phases;
  bool strong = false, weak = false, quick = false, force = false;
  int repetitions = 0, patience_s = 600, files_per_folder = 32;
  std::string cache = "warm";
  std::string html, save, from;
  std::string program, mpiexec;
};

// ---- What is asked for ------------------------------------------------------------------------------------------

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* option) {
  for (const std::string& name : names) {
    if (std::ranges::count(known, name) > 0) continue;
    const std::string near = nearest(name, known);
    throw Failure(kUsage,
                  fmt::format("{} '{}' is unknown{}; known: {}", option, name,
                              near.empty() ? "" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
  }
}

std::vector<std::string> known_methods() {
  std::vector<std::string> ids;
  for (const methods::MethodInfo& method : methods::method_table()) ids.emplace_back(method.id);
  return ids;
}

std::vector<int> ranks_of(const Options& options, const std::vector<int>& grid) {
  if (!grid.empty() && options.ranks.empty()) {
    int64_t parts = 1;
    for (const int n : grid) parts = std::min<int64_t>(parts * n, 1 << 21);
    return parse_ranks(std::to_string(parts));
  }
  if (options.ranks.empty()) return doubling_ranks(cores());
  const std::vector<int> asked = parse_ranks(options.ranks);
  const bool list = asked.size() > 1 || options.ranks.find(',') != std::string::npos;
  return list || !grid.empty() ? asked : doubling_ranks(asked.front());
}

PlanOptions plan_options(const Options& options) {
  PlanOptions plan;
  if (!options.grid.empty()) {
    for (const int64_t n : parse_extents(options.grid, "--grid"))
      plan.grid.push_back(static_cast<int>(std::min<int64_t>(n, 1 << 21)));
  }
  plan.ranks = ranks_of(options, plan.grid);
  if (!plan.grid.empty() && plan.ranks.size() > 1)
    throw Failure(kUsage, "--grid needs a single number of ranks; omit it, or give one number with --ranks");
  plan.shapes = options.sizes;
  if (plan.shapes.empty())
    plan.shapes = options.quick ? std::vector<std::string>{"1024", "64x128x128"}
                                : std::vector<std::string>{"2048", "128x128x256"};
  plan.orders = options.orders;
  if (plan.orders.empty())
    plan.orders = options.quick ? std::vector<std::string>{"c"} : std::vector<std::string>{"c", "f"};
  plan.strong = options.strong || !options.weak;
  plan.weak = options.weak || !options.strong;
  plan.cache = options.cache;
  return plan;
}

int repetitions_of(const Options& options) {
  if (options.repetitions > 0) return options.repetitions;
  return options.quick ? 3 : 7;
}

// ---- Measuring --------------------------------------------------------------------------------------------------

Json series_json(const PlannedSeries& series) {
  Json cells = Json::array();
  for (const Cell& cell : series.cells) cells.push_back(json_of(cell));
  return {{"scaling", series.scaling}, {"name", series.name}, {"cells", cells}};
}

Json run_record(const Options& options, const RunPlan& plan) {
  Json record = {{"kind", "run"}, {"version", tw_version_string()}, {"begun", utc_now()}};
  record["command"] = command_line();
  record["machine"] = machine_facts();
  record["storage"] = storage_facts(options.folder);
  const bool strong = std::ranges::count(plan.series, "strong", &PlannedSeries::scaling) > 0;
  const bool weak = std::ranges::count(plan.series, "weak", &PlannedSeries::scaling) > 0;
  record["scaling"] = strong && weak ? "strong and weak" : strong ? "strong" : weak ? "weak" : "none";
  record["cache"] = options.cache;
  record["repetitions"] = repetitions_of(options);
  record["series"] = Json::array();
  for (const PlannedSeries& series : plan.series) record["series"].push_back(series_json(series));
  return record;
}

void finish(Campaign& campaign, bool complete, double seconds) {
  for (const ResultRow& row : result_rows(campaign.results)) campaign.lines.push_back(json_of(row).dump());
  campaign.add_record({{"kind", "end"}, {"complete", complete}, {"seconds", seconds}});
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Why a run ended early.
struct Stopped {
  int signal = 0;  // 0: none
  std::optional<Failure> failure;
};

// Results are in `campaign` in any case. Throws Failure without any result.
Stopped measure(const Options& options, const Common& common, Campaign& campaign) {
  const RunPlan plan = make_plan(plan_options(options));
  const Launcher launcher = find_launcher(options.program, options.mpiexec);
  const auto bytes = static_cast<double>(plan.most_bytes);
  // A method's files and the merged one; the blocks of the ranks, copies in libraries, and the whole array on one rank.
  check_room_and_memory(options.folder, 2.2 * bytes + (16 << 20), 4 * bytes);
  campaign.add_record(run_record(options, plan));
  const ScratchFolder scratch(options.folder);
  const CampaignOptions how{scratch.path(),          options.methods,          options.phases,
                            repetitions_of(options), options.files_per_folder, options.patience_s};
  const double begin = now_s();
  Stopped stopped;
  try {
    Progress progress("methods", common.quiet);
    run_campaign(launcher, plan, how, progress, campaign);
  } catch (const Interrupted& interrupted) {
    stopped.signal = interrupted.signal;
  } catch (const Failure& failure) {
    if (campaign.results.times.empty()) throw;
    stopped.failure = failure;
  }
  finish(campaign, stopped.signal == 0 && !stopped.failure, now_s() - begin);
  return stopped;
}

// ---- Telling ----------------------------------------------------------------------------------------------------

int columns() {
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;
  return known ? std::min<int>(size.ws_col, 160) : 100;
}

// Checked before any measurement.
std::optional<bool> check_out(const char* option, const std::string& path, bool force, const std::string& from) {
  if (path.empty()) return std::nullopt;
  if (path == "-")
    throw Failure(kUsage, fmt::format("{} takes a file name, not '-'; --json prints the records", option));
  check_folder_of(path);
  return may_replace_picture(path, force, from.empty() ? std::vector<std::string>{} : std::vector{from},
                             "file that is read");
}

std::string all_lines(const Campaign& campaign) {
  std::string text;
  for (const std::string& line : campaign.lines) text += line + "\n";
  return text;
}

Campaign loaded(const std::string& path) {
  Campaign campaign;
  campaign.results = load_results(path, [&](const std::string& line) { campaign.lines.push_back(line); });
  return campaign;
}

// Predictions of the model for the measurements, where `thalweg tune` has run; otherwise empty.
std::vector<ValidationPoint> predictions(const Results& results) {
  try {
    const Json profile = load_profile(profile_path());
    const Record run(results.run, "run");
    if (!run.has("storage")) return {};
    const Json* entry = find_file_system(profile, run.part("storage").text_or_empty("identity"));
    return entry == nullptr ? std::vector<ValidationPoint>{} : validate(results, *entry);
  } catch (const Failure&) {
    return {};  // without a profile the page has no such plot
  }
}

bool any_failed(const Results& results) { return std::ranges::count(results.mishaps, true, &Mishap::failed) > 0; }

// A failure to write one file must not lose the other output.
void keep_file(const std::string& path, const std::string& text, bool replace, std::optional<Failure>& unwritten) {
  try {
    write_picture(path, text, replace);
  } catch (const Failure& failure) {
    unwritten = failure;
  }
}

int run(const Options& options, const Common& common) {
  check_names(options.methods, known_methods(), "--methods");
  check_names(options.phases, {phase_order().begin(), phase_order().end()}, "--phases");
  const auto html = check_out("--html", options.html, options.force, options.from);
  const auto save = check_out("--save", options.save, options.force, options.from);
  if (save && options.save == options.html)
    throw Failure(kUsage, fmt::format("--save and --html are both '{}'; choose two names", options.save));
  Campaign campaign;
  Stopped stopped;
  if (options.from.empty()) {
    stopped = measure(options, common, campaign);
  } else {
    campaign = loaded(options.from);
  }
  std::optional<Failure> unwritten;
  if (save) keep_file(options.save, all_lines(campaign), *save, unwritten);
  if (html) keep_file(options.html, html_page(campaign.results, predictions(campaign.results)), *html, unwritten);
  if (common.json) {
    put_json_lines(all_lines(campaign));
  } else {
    put(methods_table(campaign.results, columns()));
  }
  flush_output();
  if (unwritten) throw Failure(*unwritten);
  if (stopped.signal != 0) throw Interrupted{stopped.signal};
  if (stopped.failure) throw Failure(*stopped.failure);
  return any_failed(campaign.results) ? kInputOutput : kFine;
}

void add_what(CLI::App& app, Options& options) {
  app.add_option("--dir", options.folder, "Folder on the storage to measure; default: the current one")
      ->type_name("DIR");
  app.add_option("--ranks", options.ranks,
                 "Largest number of ranks: 1, 2, 4, ... up to it are measured; or a list \"1,2,3\", of one \"4,\"; "
                 "default: the cores")
      ->type_name("N");
  app.add_option("--grid", options.grid, "Division of the array, \"2x3\"; measures one number of ranks")
      ->type_name("PXxPY");
  app.add_option("--size", options.sizes,
                 "Side of the array, or its shape \"256x256x256\"; several may be given; default 2048 and 128x128x256")
      ->type_name("S")
      ->take_all();
  app.add_option("--order", options.orders, "c (row-major), f (column-major); default: both")
      ->delimiter(',')
      ->check(CLI::IsMember({"c", "f"}));
  app.add_flag("--strong", options.strong, "Strong scaling only: one array for all numbers of ranks");
  app.add_flag("--weak", options.weak, "Weak scaling only: equal bytes per rank, a block of half the side");
  app.add_option("--repeat", options.repetitions, "Repetitions after a warm-up; default 7")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  app.add_option("--cache", options.cache, "Cache state: measure the page cache or the storage; default warm")
      ->check(CLI::IsMember({"warm", "sync", "drop", "direct"}));
  app.add_option("--methods", options.methods, "Only these methods, by id")->delimiter(',')->type_name("ID");
  app.add_option("--phases", options.phases, "Only these phases: write, read, restart, serial, merge, overlap")
      ->delimiter(',')
      ->type_name("PHASE");
  app.add_option("--files-per-folder", options.files_per_folder,
                 "Files per sub-directory of the method with a file per task in sub-directories; default 32")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  app.add_flag("--quick", options.quick, "Small arrays, row-major, 3 repetitions: under a minute on two cores");
}

void add_where_to(CLI::App& app, Options& options) {
  app.add_option("--html", options.html, "Write the page with plots, groups and advice to this file")
      ->type_name("FILE");
  app.add_option("--save", options.save, "Write the records, lines of JSON, to this file")->type_name("FILE");
  app.add_option("--from", options.from, "Print table and page of the records in this file, without measuring")
      ->type_name("FILE");
  app.add_flag("-f,--force", options.force, "Replace FILE even if this command did not make it");
  app.add_option("--program", options.program, "The measuring program; default: thalweg-methods beside this command")
      ->type_name("FILE");
  app.add_option("--mpiexec", options.mpiexec,
                 "Launcher of the ranks, with its options; default: that of the program's MPI")
      ->type_name("WORDS");
  app.add_option("--patience", options.patience_s, "Seconds of silence after which a method has failed; default 600")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("S");
}

Run add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_what(app, *options);
  add_where_to(app, *options);
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kMethods = {
    "methods",
    "Measure all ways of writing a distributed array, draw the results, and recommend one",
    "Starts the program thalweg-methods under mpiexec with 1, 2, 4, ... ranks. They write an array of 4-byte reals, "
    "divided into blocks, in 22 ways: gathered, a file per rank, the levels of MPI-IO, parallel HDF5, PnetCDF, "
    "SIONlib, and this library's; read it back, on other ranks and on another number of ranks, and verify every byte. "
    "Methods that are not built are listed.\n"
    "\nThe methods are interleaved; a time is the median of all repetitions, with its 95 % confidence interval. The "
    "page (--html) has scaling plots, the groups of efficient, moderate and inefficient methods, and a card for each; "
    "it needs no network (docs/howto/methods.md).\n"
    "\n--cache selects what is measured. warm: the page cache; sync: writes until they are on the storage; drop: reads "
    "from the storage, too; direct: direct I/O where a method supports it. All files are in a new folder in DIR that "
    "is removed at the end, also after Ctrl-C, which prints the results so far. Needs free space of 2.2 times the "
    "largest array plus 16 MiB, and memory of 4 times the array.",
    "  lines of JSON instead of one object: the records of docs/design/methods.md\n",
    "  thalweg methods --quick\n"
    "  thalweg methods --dir /scratch --ranks 16 --size 8192 --html methods.html --save methods.jsonl\n"
    "  thalweg methods --from methods.jsonl --html methods.html\n",
    add};

}  // namespace tool
