// thalweg-bench-omp-file: thread-collective I/O compared with common practice in OpenMP programs, on the file system of
// a folder and in memory, with a table of targets at the end.
#include <fmt/format.h>
#include <omp.h>

#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstring>

#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

void must_io(int result, const char* what) {
  if (result != 0) give_up(fmt::format("{}: {}", what, std::strerror(errno)));
}

namespace {

struct Options {
  bool quick = false, tiny = false, only_dir = false;
  std::string dir = ".", json;
  std::vector<std::string> parts;
  std::vector<int> threads;
  Effort effort() const { return effort_of(tiny, quick); }
};

struct Part {
  const char* name;
  void (*run)(Bench&);
};
constexpr Part kParts[] = {{"empty", bench_empty},    {"segments", bench_segments}, {"bt-io", bench_bt_io},
                           {"skewed", bench_skewed},  {"records", bench_records},   {"transport", bench_transport},
                           {"overlap", bench_overlap}};

void run(const Options& options) {
  const double started = now();
  Report report("omp-file");
  nlohmann::json kinds = nlohmann::json::array();
  std::vector<std::string> folders = {options.dir};
  if (!options.only_dir && file_system_kind("/dev/shm") == "tmpfs" && file_system_kind(options.dir) != "tmpfs")
    folders.emplace_back("/dev/shm");
  for (const std::string& folder : folders) {
    Scratch scratch(folder);
    if (options.effort() == Effort::tiny) scratch.never_settle();
    kinds.push_back(scratch.kind());
    std::vector<int> threads = options.threads;
    if (threads.empty()) threads = pick<std::vector<int>>(options.effort(), {2}, {2}, {1, 2, 4, 8, 16});
    Bench bench{options.effort(), scratch, report, threads};
    for (const Part& part : kParts) {
      const auto& wanted = options.parts;
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), part.name) != wanted.end()) part.run(bench);
    }
  }
  report.print_targets();
  const nlohmann::json settings = {
      {"effort", name_of(options.effort())}, {"file_systems", kinds}, {"seconds", now() - started}};
  if (!options.json.empty()) report.write_json(options.json, settings);
  fmt::print("{:.0f} s in all\n", now() - started);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app(
      "Compares thread-collective I/O with critical sections, files per thread and gathering. A whole run "
      "takes about half an hour on 2 cores.",
      "thalweg-bench-omp-file");
  app.add_flag("--quick", options.quick,
               "2 threads, fewer sizes and repetitions: about 3 minutes instead of half an hour");
  app.add_flag("--tiny", options.tiny, "smoke test: verifies the bytes; times are meaningless");
  app.add_option("--dir", options.dir, "folder on the file system to measure; it must exist")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_flag("--only-dir", options.only_dir, "leave out /dev/shm");
  app.add_option("--json", options.json, "write all results to this file");
  app.add_option("--threads", options.threads, "numbers of threads; default: 1 2 4 8 16")->check(CLI::Range(1, 1024));
  std::vector<std::string> names;
  for (const bench::Part& part : bench::kParts) names.emplace_back(part.name);
  app.add_option("--part", options.parts, "only these parts")->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  try {
    bench::clean_up_when_interrupted();
    bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
