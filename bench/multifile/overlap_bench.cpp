// (g) A checkpoint that has to reach the device, while all tasks compute: with tw_multifile_sync() before the
// computation, and with tw_multifile_isync() during it. The part of the shorter time that is hidden behind the longer
// one:
//
//     hidden = (t_checkpoint + t_compute - t_both) / min(t_checkpoint, t_compute)
//
// The processor time of the checkpoint cannot be hidden, since all processors compute: "cores" is what it leaves.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/clock.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

// All processors compute.
int n_tasks() { return std::max(2, static_cast<int>(std::thread::hardware_concurrency())); }

double work(std::int64_t rounds) {
  double x = 1.0001;
  for (std::int64_t i = 0; i < rounds; ++i) x = std::sqrt(x * 1.0000001 + 1e-9);
  return x;
}

// The processor time of all threads of this process.
double processor_seconds() {
  rusage used{};
  must(getrusage(RUSAGE_SELF, &used), "getrusage");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Times are those of the slowest task, without the open and the close.
struct Times {
  double calls = 0;       // in calls of the library
  double all = 0;         // from the first write to the end of the computation and of the sync
  double processors = 0;  // time of all processors for the calls and the sync
};

class Overlap {
 public:
  Overlap(Bench& bench, Load& load, std::string hints) : bench_(bench), load_(load), hints_(std::move(hints)) {}

  // Sets the rounds of computation that take about as long as the checkpoint.
  void calibrate() {
    rounds_ = 4'000'000;
    rounds_ = static_cast<std::int64_t>(static_cast<double>(rounds_) * checkpoint(false, false).all / computation());
  }
  double computation() {
    return time_tasks(load_.tasks(), [&](const Task&) { compute(); });
  }
  Times checkpoint(bool in_background, bool computes) {
    bench_.scratch.settle();
    const auto folder = bench_.scratch.fresh();
    std::vector<Times> of_task(static_cast<std::size_t>(load_.tasks()));
    double processors = 0;
    time_tasks(load_.tasks(), [&](const Task& task) {
      Times& times = of_task[static_cast<std::size_t>(task.rank)];
      thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE,
                              thalweg::Options().hints(hints_));
      thalweg::check(tw_group_barrier(task.group.get()));
      if (task.rank == 0) processors = processor_seconds();
      const double start = now();
      for (std::int64_t i = 0; i < load_.blocks_per_task; ++i)
        file.write(load_.streams[static_cast<std::size_t>(task.rank)].block(static_cast<std::uint64_t>(i)),
                   load_.block_bytes());
      thalweg::Request request;
      if (in_background) {
        request = file.isync();
      } else {
        file.sync();
      }
      times.calls = now() - start;
      if (computes) compute();
      const double computed = now();
      request.wait();
      times.calls += now() - computed;
      times.all = now() - start;
      thalweg::check(tw_group_barrier(task.group.get()));
      if (task.rank == 0) processors = processor_seconds() - processors;
      file.close();
    });
    if (!checked_) read_multifile(folder, load_, Check::all_bytes);
    checked_ = true;
    bench_.scratch.drop_bytes(folder);
    const auto slowest = [&](double Times::*which) { return std::ranges::max(of_task, {}, which).*which; };
    return {slowest(&Times::calls), slowest(&Times::all), processors};
  }

 private:
  void compute() {
    const double result = work(rounds_);
    if (std::isnan(result)) give_up("the computation has no result");  // keeps it from being optimised away
  }

  Bench& bench_;
  Load& load_;
  const std::string hints_;
  std::int64_t rounds_ = 0;
  bool checked_ = false;
};

void measure(Bench& bench, Load& load, const std::string& how, const std::string& hints) {
  Overlap overlap(bench, load, hints);
  overlap.calibrate();
  std::vector<double> hidden, limits, shares, stalls, background_stalls;
  for (int i = 0; i < pick(bench.effort, 1, 5, 11); ++i) {
    const Times blocking = overlap.checkpoint(false, false);
    const double computing = overlap.computation();
    const Times both = overlap.checkpoint(true, true);
    const double shorter = std::min(blocking.all, computing);
    hidden.push_back(100 * (blocking.all + computing - both.all) / shorter);
    limits.push_back(100 * (1 - std::min(blocking.processors / load.tasks() / shorter, 0.99)));
    shares.push_back(hidden.back() / limits.back());
    stalls.push_back(1e3 * blocking.calls);
    background_stalls.push_back(1e3 * both.calls);
  }
  const double stall = spread_of(stalls).median, short_stall = spread_of(background_stalls).median;
  bench.report.add_fact(
      "behind_computing, " + how,
      {{"stall_ms", stall},
       {"isync_stall_ms", short_stall},
       {"hidden_percent", spread_of(hidden).median},
       {"cores_percent", spread_of(limits).median}},
      fmt::format("a checkpoint of {:.0f} MiB, {}, on {}: the tasks stand still for {:.0f} ms, with isync "
                  "for {:.0f} ms; {:.0f} % hidden, the cores allow {:.0f} %",
                  load.bytes() / (1 << 20), how, bench.scratch.kind(), stall, short_stall, spread_of(hidden).median,
                  spread_of(limits).median));
  bench.report.add_target({bench.on("a checkpoint hidden behind computing, " + how + ", of what the cores allow"),
                           spread_of(shares), 0.9, true, "x"});
}

}  // namespace

void bench_overlap(Bench& bench) {
  if (bench.scratch.in_memory()) return;  // there is no device that could work in the background
  Load load = make_load(n_tasks(), pick(bench.effort, 4.0, 256.0, 1024.0) * 1024 * 1024, std::size_t{1} << 20);
  measure(bench, load, "page cache", "");
  // Buffers for a whole checkpoint, so that no write waits for the device.
  const double of_task = load.bytes() / load.tasks() / (4 << 20);
  const int depth = std::max(4, static_cast<int>(std::ceil(of_task)));
  measure(bench, load, "direct",
          fmt::format("io=direct,transfer_bytes=4MiB,queue_depth={},chunk_bytes={}", depth,
                      static_cast<std::int64_t>(load.bytes() / load.tasks())));
}

}  // namespace bench
