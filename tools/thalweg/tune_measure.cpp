// Runs of `thalweg tune`, and their repetitions.
#include "tune_measure.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <thalweg/file.hpp>

#include "threads.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostMemory = 128 * kMiB;
constexpr int64_t kShareUnit = 64 * 1024;
constexpr int kProgressRuns = 86;  // per repetition, approximately

// The share of task `rank` in `bytes` from offset 0, in whole units.
Stretch share_of(int64_t bytes, int64_t rank, int64_t tasks) {
  const int64_t units = bytes / kShareUnit;
  return {units * rank / tasks * kShareUnit, units * (rank + 1) / tasks * kShareUnit};
}

Json speed_of(const Timed& run, const Seconds& seconds) {
  const auto speed = [&](double each) {
    return static_cast<double>(run.bytes) / static_cast<double>(kMiB) / std::max(each, 1e-9);
  };
  const auto [least, most] = std::ranges::minmax(seconds);
  return {{"what", run.what},
          {"mib_per_s", {{"median", speed(median(seconds))}, {"least", speed(most)}, {"most", speed(least)}}}};
}

}  // namespace

double median(Seconds seconds) {
  std::ranges::sort(seconds);
  const size_t n = seconds.size();
  return (seconds[n / 2] + seconds[(n - 1) / 2]) / 2;
}

double median_ratio(const Seconds& a, const Seconds& b) {
  Seconds ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / std::max(b[i], 1e-9));
  return median(std::move(ratios));
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double together(int64_t tasks, const std::function<void(int64_t rank, const TimedWork& timed)>& task) {
  stop_if_interrupted();
  std::barrier all_there(tasks);
  std::vector<Clock::time_point> begin(static_cast<size_t>(tasks)), end(begin);
  on_threads(tasks, [&](int64_t rank, const std::atomic<bool>&) {
    const auto at = static_cast<size_t>(rank);
    task(rank, [&](const std::function<void()>& work) {
      all_there.arrive_and_wait();
      begin[at] = Clock::now();
      work();
      end[at] = Clock::now();
    });
  });
  return std::chrono::duration<double>(std::ranges::max(end) - std::ranges::min(begin)).count();
}

Workbench::Workbench(const TuneOptions& given, Measured& measured)
    : options(given),
      found(measured),
      folder(given.folder),
      cached(folder.path() + "/cached"),
      past_cache(folder.path() + "/direct"),
      source(std::min(given.bytes, kMostMemory)),
      target(source.size()),
      progress_("tune", given.quiet),
      until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(given.seconds))) {
  source.fill(1);
  target.clear();
}

std::vector<Seconds> Workbench::take_turns(const std::vector<Timed>& runs, int times) {
  std::vector<Seconds> seconds(runs.size());
  const int least = times * std::min(options.repetitions, kLeastRepetitions);
  for (int repetition = 0; repetition < times * options.repetitions; ++repetition) {
    found.late = found.late || Clock::now() > until_;
    if (found.late && repetition >= least) break;
    for (size_t i = 0; i < runs.size(); ++i) {
      stop_if_interrupted();
      seconds[i].push_back(runs[i].run());
      const int64_t all = int64_t{kProgressRuns} * options.repetitions;
      progress_.update(std::min(++runs_done_, all) * options.bytes, all * options.bytes);
    }
  }
  for (size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].what.empty()) found.speeds.push_back(speed_of(runs[i], seconds[i]));
  return seconds;
}

// Checks what was written, or read.
void Workbench::check_run(const ScratchFile& file, bool writes) const {
  if (!writes) return check_bytes(target.data(), source.data(), target.size());
  check_bytes(file, source, options.bytes);
  file.sync();  // no dirty pages remain during later measurements
  if (&file == &past_cache) file.leave_cache();
}

double Workbench::plain_run(bool writes, bool fresh, int64_t tasks) {
  if (writes && fresh) cached.empty();
  if (!writes) target.clear();
  const double seconds = together(tasks, [&](int64_t rank, const TimedWork& timed) {
    timed([&] { plain_move(writes, cached, writes ? source : target, share_of(options.bytes, rank, tasks)); });
  });
  check_run(cached, writes);
  return seconds;
}

double Workbench::library_run(bool writes, bool fresh, int64_t tasks, const std::string& hints) {
  const ScratchFile& file = hints.starts_with("io=direct") ? past_cache : cached;
  if (writes && fresh) file.empty();
  if (!writes) target.clear();
  const Team team(tasks);
  // Every status is equal on all tasks: none is left waiting.
  const double seconds = together(tasks, [&](int64_t rank, const TimedWork& timed) {
    thalweg::Options with;
    with.hints(hints.c_str());
    thalweg::File opened(team.group(rank), file.path(), writes ? TW_WRITE : TW_READ, with);
    timed([&] {
      for (int64_t at = 0; at < options.bytes; at += source.size()) {
        const auto [begin, end, call] = share_of(std::min(source.size(), options.bytes - at), rank, tasks);
        const auto n = static_cast<size_t>(end - begin);
        if (writes)
          opened.write_at_all(std::span<const std::byte>(source.data() + begin, n), at + begin);
        else
          opened.read_at_all(std::span(target.data() + begin, n), at + begin);
      }
    });
    opened.close();
  });
  check_run(file, writes);
  return seconds;
}

Measured measure_storage(const TuneOptions& options) {
  Measured found;
  Workbench bench(options, found);
  measure_small(bench);
  measure_bytes(bench);
  measure_files(bench);
  found.late = found.late && options.repetitions > kLeastRepetitions;
  return found;
}

}  // namespace tool
