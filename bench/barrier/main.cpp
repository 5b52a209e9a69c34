// thalweg-bench-barrier: the cost of a barrier of a thread team when no thread waits, and the processor time of waiting
// for a late thread, through the C API.
#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <barrier>
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/clock.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"
#include "support/tasks.hpp"

namespace bench {
namespace {

struct Options {
  bool quick = false, tiny = false;
  std::string json;
  std::string dir;  // required of every benchmark; unused
  Effort effort() const { return effort_of(tiny, quick); }
};

constexpr int kBatch = 100;  // barriers per time measurement

// Seconds of a typical barrier in a run of `batches`: the median batch, measured by task 0. The median excludes batches
// interrupted by other programs or the hypervisor.
template <class Barrier>
double typical(int threads, int batches, Barrier&& barrier) {
  std::vector<double> seconds;
  time_tasks(threads, [&](const Task& task) {
    for (int batch = 0; batch < batches; ++batch) {
      const double start = now();
      for (int i = 0; i < kBatch; ++i) barrier(task);
      if (task.rank == 0) seconds.push_back(now() - start);
    }
  });
  return spread_of(seconds).median / kBatch;
}

double time_thalweg(int threads, int batches) {
  return typical(threads, batches, [](const Task& task) { thalweg::check(tw_group_barrier(task.group.get())); });
}

double time_pthread(int threads, int batches) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads));
  const double seconds = typical(threads, batches, [&](const Task&) { pthread_barrier_wait(&barrier); });
  pthread_barrier_destroy(&barrier);
  return seconds;
}

double time_std(int threads, int batches) {
  std::barrier barrier(threads);
  return typical(threads, batches, [&](const Task&) { barrier.arrive_and_wait(); });
}

void compare(Report& report, const Options& options, int threads, int batches) {
  Comparison comparison(fmt::format("barrier of {} threads", threads), {1, "barrier"}, {"barrier"});
  const auto variant = [&](const std::string& name, double (*time)(int, int)) {
    comparison.add(name, [=](int) { return std::vector<double>{time(threads, batches)}; });
  };
  variant("thalweg", time_thalweg);
  variant("pthread_barrier", time_pthread);
  variant("std::barrier", time_std);
  comparison.run({pick(options.effort(), 3, 31, 101), pick(options.effort(), 8.0, 8.0, 60.0), true});
  report.add(comparison, "");
  if (threads != 2) return;
  Spread each = comparison.seconds("thalweg", "barrier");
  for (double* value : {&each.median, &each.low, &each.high}) *value *= 1e6;
  report.add_target({"barrier of 2 threads, median", each, 0.5, false, "us"});
}

double cpu_seconds_of_this_thread() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// Task 0 is late. Returns the share of a core, in percent, that each other task uses meanwhile.
double burned_while_waiting(int threads, double late) {
  std::vector<double> cpu(static_cast<std::size_t>(threads), 0);
  time_tasks(threads, [&](const Task& task) {
    thalweg::check(tw_group_barrier(task.group.get()));
    const double before = cpu_seconds_of_this_thread();
    if (task.rank == 0) std::this_thread::sleep_for(std::chrono::duration<double>(late));
    thalweg::check(tw_group_barrier(task.group.get()));
    cpu[static_cast<std::size_t>(task.rank)] = cpu_seconds_of_this_thread() - before;
  });
  double sum = 0;
  for (std::size_t i = 1; i < cpu.size(); ++i) sum += cpu[i];
  return 100 * sum / (threads - 1) / late;
}

void measure_waiting(Report& report, const Options& options, int threads) {
  std::vector<double> shares;
  for (int i = 0; i < pick(options.effort(), 1, 5, 5); ++i) shares.push_back(burned_while_waiting(threads, 0.3));
  const Spread share = spread_of(shares);
  const std::string name = fmt::format("core used by each of {} that wait 0.3 s", threads - 1);
  report.add_fact(fmt::format("waiting_{}", threads), share.median, fmt::format("{}: {:.2f} %", name, share.median));
  report.add_target({name, share, 5, false, "%"});
}

void run(const Options& options) {
  Report report("barrier");
  const double started = now();
  compare(report, options, 2, pick(options.effort(), 10, 200, 200));
  compare(report, options, 16, pick(options.effort(), 2, 10, 10));
  measure_waiting(report, options, 2);
  measure_waiting(report, options, 16);
  report.print_targets();
  if (!options.json.empty())
    report.write_json(options.json, {{"effort", name_of(options.effort())}, {"seconds", now() - started}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Compares the barrier of a thread team with those of pthreads and the C++ library.",
               "thalweg-bench-barrier");
  app.add_flag("--quick", options.quick, "fewer repetitions: under 50 s");
  app.add_flag("--tiny", options.tiny, "smoke test; times are meaningless");
  app.add_option("--dir", options.dir, "accepted and unused: nothing is written");
  app.add_option("--json", options.json, "write all results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
