// thalweg-bench-multifile: multifiles compared with common practice, on the file system of a folder and in memory, with
// a table of targets at the end.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "multifile/parts.hpp"
#include "support/clock.hpp"

namespace bench {

Plan Bench::plan(int repetitions, bool warm_up) const {
  constexpr double kLate = 38;  // seconds after which a quick run reduces its repetitions
  if (effort == Effort::full) return {repetitions, 1e9, warm_up};
  if (effort == Effort::tiny || now() - started > kLate) return {1, 1e9, false};
  return {std::min(repetitions, 3), 1.5, warm_up};
}

std::string count_text(std::int64_t n) {
  if (n >= (1 << 20) && n % (1 << 20) == 0) return fmt::format("{}M", n >> 20);
  if (n >= (1 << 10) && n % (1 << 10) == 0) return fmt::format("{}k", n >> 10);
  return std::to_string(n);
}

namespace {

struct Options {
  bool quick = false, tiny = false, only_dir = false;
  std::string dir = ".", json;
  std::vector<std::string> parts;
  std::string probe_folder;
  std::int64_t probe_files = 0;
  int probe_tasks = 0;
  std::int64_t probe_simulate = 0;

  Effort effort() const { return effort_of(tiny, quick); }
};

struct Part {
  std::string name;
  void (*run)(Bench&);
  bool has_targets;  // a quick run makes other parts on the first file system only
};

// Mass creation of files comes last, as it disturbs later measurements.
const std::vector<Part>& parts() {
  static const std::vector<Part> all = {{"bandwidth", bench_bandwidth, true},
                                        {"direct", bench_direct, true},
                                        {"records", bench_records, true},
                                        {"restart", bench_restart, false},
                                        {"physical-files", bench_physical_files, true},
                                        {"many-tasks", bench_many_tasks, true},
                                        {"alignment", bench_alignment, true},
                                        {"compression", bench_compression, false},
                                        {"growth", bench_growth, true},
                                        {"open-one", bench_open_one, true},
                                        {"overlap", bench_overlap, true},
                                        {"create", bench_create, true},
                                        {"small", bench_small, true},
                                        {"names", bench_names, true},
                                        {"tier", bench_tier, false}};
  return all;
}

bool wanted(const Options& options, const std::string& part) {
  return options.parts.empty() || std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
}

std::unique_ptr<CLI::App> make_app(Options& options) {
  auto app = std::make_unique<CLI::App>(
      "Compares multifiles with separate files, task-local files, one stream and stdio.", "thalweg-bench-multifile");
  app->add_flag("--quick", options.quick, "smaller sizes, fewer repetitions: under 50 s");
  app->add_flag("--tiny", options.tiny, "smoke test: verifies the bytes; times are meaningless");
  app->add_option("--dir", options.dir, "folder on the file system to measure; it must exist")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app->add_flag("--only-dir", options.only_dir, "leave out /dev/shm");
  app->add_option("--json", options.json, "write all results to this file");
  std::vector<std::string> names = {"simulation"};
  for (const Part& part : parts()) names.push_back(part.name);
  app->add_option("--part", options.parts, "only these parts")->check(CLI::IsMember(names));
  app->add_option("--probe-create", options.probe_folder)->group("");
  app->add_option("--probe-files", options.probe_files)->group("");
  app->add_option("--probe-tasks", options.probe_tasks)->group("");
  app->add_option("--probe-simulate", options.probe_simulate)->group("");
  return app;
}

// The folder, and memory when it is a different file system with sufficient space.
std::vector<std::string> folders_to_measure(const Options& options) {
  std::vector<std::string> folders = {options.dir};
  const std::filesystem::path memory = "/dev/shm";
  if (options.only_dir || file_system_kind(memory) != "tmpfs" || file_system_kind(options.dir) == "tmpfs")
    return folders;
  const std::int64_t needed =
      pick<std::int64_t>(options.effort(), 1 << 26, std::int64_t{3} << 30, std::int64_t{6} << 30);
  std::error_code error;
  if (static_cast<std::int64_t>(std::filesystem::space(memory, error).available) >= needed && !error)
    folders.emplace_back(memory);
  else
    fmt::print("/dev/shm has less than {} MiB free: left out\n", needed >> 20);
  return folders;
}

void run(const Options& options) {
  const double started = now();
  const Effort effort = options.effort();
  Report report("multifile");
  nlohmann::json kinds = nlohmann::json::array();
  for (const std::string& folder : folders_to_measure(options)) {
    Scratch scratch(folder);
    if (effort == Effort::tiny) scratch.never_settle();
    kinds.push_back(scratch.kind());
    Bench bench{effort, scratch, report, started};
    const bool all_parts = effort != Effort::quick || kinds.size() == 1;
    for (const Part& part : parts())
      if (wanted(options, part.name) && (all_parts || part.has_targets)) part.run(bench);
    fmt::print("\n{:.0f} s so far, {:.0f} of them waiting for the device before runs\n", now() - started,
               scratch.settling_seconds());
  }
  if (wanted(options, "simulation")) bench_simulation(effort, report);
  report.print_targets();
  const nlohmann::json settings = {{"effort", name_of(effort)}, {"file_systems", kinds}, {"seconds", now() - started}};
  if (!options.json.empty()) report.write_json(options.json, settings);
  fmt::print("{:.0f} s in all\n", now() - started);
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  const auto app = bench::make_app(options);
  try {
    app->parse(argc, argv);
    if (!options.probe_folder.empty())
      bench::probe_create(options.probe_folder, options.probe_files, options.probe_tasks);
    else if (options.probe_simulate > 0)
      bench::probe_simulate(options.probe_simulate);
    else {
      bench::clean_up_when_interrupted();
      bench::run(options);
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    return app->exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
