// thalweg-bench-collective: collectives between MPI ranks compared with those of the MPI library, on the file system of
// a folder, in memory, and on emulated slow storage. A run has one number of ranks; run.sh makes all runs.
#include <fmt/format.h>
#include <mpi.h>
#include <thalweg/group_mpi.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <thread>

#include "collective/launch.hpp"
#include "collective/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

struct Options {
  bool quick = false, tiny = false, only_dir = false, delayed = false, largest = false, emulated = false;
  std::string dir = ".", json;
  std::vector<std::string> parts;
  Effort effort() const { return effort_of(tiny, quick); }
};

struct Part {
  const char* name;
  void (*run)(Bench&);
  bool when_delayed;  // unless requested by name
};
constexpr Part kParts[] = {{"memory", bench_memory, false},  {"coll-perf", bench_coll_perf, true},
                           {"overlap", bench_overlap, true}, {"outstanding", bench_outstanding, true},
                           {"small", bench_small, false},    {"rows", bench_rows, false},
                           {"hybrid", bench_hybrid, false},  {"particles", bench_particles, false},
                           {"trace", bench_trace, false},    {"nodes", bench_nodes, false}};

bool is_wanted(const Options& options, const Part& part) {
  const auto& wanted = options.parts;
  if (wanted.empty()) return (part.when_delayed || !options.delayed) && part.run != bench_nodes;
  return std::find(wanted.begin(), wanted.end(), part.name) != wanted.end();
}

std::vector<std::string> folders_of(const Options& options) {
  const bool has_memory = file_system_kind("/dev/shm") == "tmpfs";
  if (options.delayed) return {has_memory && !options.only_dir ? "/dev/shm" : options.dir};
  if (options.only_dir || !has_memory || file_system_kind(options.dir) == "tmpfs") return {options.dir};
  return {options.dir, "/dev/shm"};
}

void run(const Options& options, tw_group* group) {
  const double started = now();
  const Ranks ranks;
  if (ranks.nodes() > 1 && !options.emulated)
    give_up("the ranks must run on one machine, as they share a clock; --emulated-nodes says that they do");
  Report report("collective");
  nlohmann::json kinds = nlohmann::json::array();
  for (const std::string& folder : folders_of(options)) {
    Storage storage(ranks, folder, options.delayed, options.effort() != Effort::tiny);
    kinds.push_back(storage.name());
    Bench bench{options.effort(), ranks, group, storage, report, options.largest};
    for (const Part& part : kParts)
      if (is_wanted(options, part)) part.run(bench);
  }
  ranks.meet();
  if (!ranks.first()) return;
  report.print_targets();
  const nlohmann::json settings = {
      {"effort", name_of(options.effort())}, {"file_systems", kinds},     {"mpi", mpi_name()}, {"ranks", ranks.size()},
      {"delayed", options.delayed},          {"seconds", now() - started}};
  if (!options.json.empty()) report.write_json(options.json, settings);
  fmt::print("{:.0f} s in all\n", now() - started);
}

void run_with_mpi(const Options& options) {
  int level = 0;
  must_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
  if (level < MPI_THREAD_MULTIPLE) give_up("this MPI has no MPI_THREAD_MULTIPLE");
  tw_group* group = nullptr;
  must_tw(tw_group_mpi(MPI_COMM_WORLD, &group), "tw_group_mpi");
  run(options, group);
  tw_group_free(&group);
  if (options.emulated) {
    // MPICH 4.0 over TCP hangs in MPI_Finalize now and then where ranks end at once.
    MPI_Barrier(MPI_COMM_WORLD);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  must_mpi(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app(
      "Measures collectives between ranks against those of the MPI below them, on four ranks unless mpiexec starts it. "
      "run.sh starts it for every number of ranks and every MPI that was built.",
      "thalweg-bench-collective");
  app.add_flag("--quick", options.quick, "smaller sizes and fewer repetitions");
  app.add_flag("--tiny", options.tiny, "smoke test: verifies the bytes; times are meaningless");
  app.add_option("--dir", options.dir, "folder on the file system to measure; it must exist")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_flag("--only-dir", options.only_dir, "leave out /dev/shm");
  app.add_flag("--delayed", options.delayed,
               "on emulated storage in /dev/shm that gives all ranks together 1 GB/s and takes 100 us per operation");
  app.add_flag("--emulated-nodes", options.emulated, "the ranks are on nodes that are emulated on one machine");
  app.add_flag("--largest", options.largest, "run coll-perf also with the largest array that fits");
  app.add_option("--json", options.json, "write all results to this file");
  std::vector<std::string> names;
  for (const bench::Part& part : bench::kParts) names.emplace_back(part.name);
  app.add_option("--part", options.parts, "only these parts")->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  try {
    bench::start_own_ranks(argv);
    if (options.delayed) bench::preload_delays(argv);
    bench::clean_up_when_interrupted();
    bench::run_with_mpi(options);
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
