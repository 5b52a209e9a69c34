// Direct I/O compared with the page cache, through the library and with system calls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thalweg/file.hpp>

#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int kSmallCalls = 128;
constexpr int64_t kSmallBytes = 4096;

struct Point {
  int64_t depth, transfer_bytes;

  std::string hints() const { return fmt::format("io=direct,queue_depth={},transfer_bytes={}", depth, transfer_bytes); }
};

// The first of these settings that is nearly as good as the best.
Point best_of(Workbench& bench, const std::vector<Point>& points) {
  std::vector<Timed> runs;
  for (const Point& point : points)
    for (const bool writes : {true, false})
      runs.push_back({[&, writes] { return bench.library_run(writes, false, 1, point.hints()); },
                      fmt::format("{}, direct, 1 thread, {} in flight of {}", writes ? "write" : "read", point.depth,
                                  short_size(point.transfer_bytes)),
                      bench.options.bytes});
  const auto seconds = bench.take_turns(runs);
  std::vector<double> costs;
  for (size_t i = 0; i < points.size(); ++i) costs.push_back(median(seconds[2 * i]) + median(seconds[2 * i + 1]));
  const double enough = std::ranges::min(costs) * kClearlyBetter;
  return points[static_cast<size_t>(std::ranges::find_if(costs, [&](double c) { return c <= enough; }) -
                                    costs.begin())];
}

// The best depth for transfers of 1 MiB, then the best size of transfers at that depth.
Point choose_point(Workbench& bench) {
  std::vector<Point> points;
  for (const int64_t depth : {1, 2, 4, 8, 16, 32}) points.push_back({depth, kMiB});
  const int64_t depth = best_of(bench, points).depth;
  return best_of(bench, {{depth, kMiB / 4}, {depth, kMiB}, {depth, 4 * kMiB}});
}

// New file, overwriting and cached reading, by one task and by all; each with system calls and, where there is direct
// I/O, with the library through the page cache and past it. They take turns with the runs of staging.
struct Contests {
  enum What : size_t { kNew, kOver, kRead };
  std::vector<Seconds> seconds;
  size_t ways;
  bool has_all;  // more than one task

  // Way 0: system calls, 1: through the page cache, 2: past it.
  const Seconds& of(What what, bool all, size_t way) const {
    return seconds[(3 * (all && has_all) + what) * ways + way];
  }
  // The gain of direct I/O over the better of the others: the least of both numbers of tasks.
  double gain(What what) const {
    double least = 1e9;
    for (const bool all : {false, true}) {
      Seconds better = of(what, all, 0);
      for (size_t i = 0; i < better.size(); ++i) better[i] = std::min(better[i], of(what, all, 1)[i]);
      least = std::min(least, median_ratio(better, of(what, all, 2)));
    }
    return least;
  }
  // The speed-up of all tasks over one.
  double speed_up(What what, size_t way) const { return median_ratio(of(what, false, way), of(what, true, way)); }
};

Contests hold_contests(Workbench& bench, const std::string& direct) {
  const Staging staging;
  std::vector<Timed> runs = staging.runs(bench);
  const size_t staged = runs.size();
  const auto add = [&](const std::string& what, const std::function<double()>& run) {
    runs.push_back({run, what, bench.options.bytes});
  };
  for (const int64_t tasks : {int64_t{1}, bench.options.tasks}) {
    for (const auto& [name, writes, fresh] :
         {std::tuple("write, new file", true, true), {"write, overwriting", true, false}, {"read", false, false}}) {
      const std::string what = fmt::format("{}, {}, ", name, count_text(tasks, "thread"));
      add(what + "system calls", [&bench, writes, fresh, tasks] { return bench.plain_run(writes, fresh, tasks); });
      if (!bench.options.has_direct) continue;
      for (const std::string& hints : {std::string("io=buffered"), direct})
        add(what + "library, " + (hints == direct ? "direct" : "buffered"),
            [&bench, writes, fresh, tasks, hints] { return bench.library_run(writes, fresh, tasks, hints); });
    }
    if (bench.options.tasks == 1) break;
  }
  auto seconds = bench.take_turns(runs);
  staging.choose(seconds, bench.options.bytes, bench.found.entry);
  seconds.erase(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(staged));
  return {std::move(seconds), bench.options.has_direct ? size_t{3} : 1, bench.options.tasks > 1};
}

// Seconds of one direct access of 4 KiB.
double small_direct_run(const Workbench& bench, bool writes) {
  thalweg::Options options;
  options.hints("io=direct");
  thalweg::File file(thalweg::Group::self(), bench.past_cache.path(), writes ? TW_WRITE : TW_READ, options);
  const auto calls = [&] {
    for (int i = 0; i < kSmallCalls; ++i) {
      const int64_t at = i * 17 % (bench.source.size() / kSmallBytes) * kSmallBytes;
      if (writes)
        file.write_at(std::span<const std::byte>(bench.source.data() + at, kSmallBytes), at);
      else
        file.read_at(std::span(bench.target.data() + at, kSmallBytes), at);
    }
  };
  return seconds_of(calls) / kSmallCalls;
}

}  // namespace

// Direct I/O is enabled where it won every contest; buffered writes are not synced.
void measure_bytes(Workbench& bench) {
  Json& entry = bench.found.entry;
  const bool has_direct = bench.options.has_direct;
  Point point = {4, 4 * kMiB};
  if (has_direct) {
    bench.library_run(true, true, 1, point.hints());
    point = choose_point(bench);
  }
  const Contests contests = hold_contests(bench, point.hints());
  const auto cost = [&](Contests::What what, size_t way, double call_ns) {
    return byte_ns(contests.of(what, false, way), bench.options.bytes, kMiB, call_ns);
  };
  Json& buffered = entry["buffered"];
  const double call_ns = buffered["call_ns"];
  buffered["write_byte_ns"] = cost(Contests::kOver, 0, call_ns);
  buffered["read_byte_ns"] = cost(Contests::kRead, 0, call_ns);
  // On a busy machine two threads get more time than one, so a parallel inode needs a clear speed-up.
  buffered["parallel_writes"] = contests.speed_up(Contests::kOver, 0) > 1.25 ? 0 : 1;
  buffered["parallel_reads"] = contests.speed_up(Contests::kRead, 0) < 0.9 ? 1 : 0;
  if (has_direct) {
    Json direct = buffered;
    direct["write_byte_ns"] = direct["staged_write_byte_ns"] = cost(Contests::kOver, 2, 0);
    direct["read_byte_ns"] = direct["staged_read_byte_ns"] = cost(Contests::kRead, 2, 0);
    direct["parallel_writes"] = contests.speed_up(Contests::kOver, 2) < 0.9 ? 1 : 0;
    direct["parallel_reads"] = contests.speed_up(Contests::kRead, 2) < 0.9 ? 1 : 0;
    const auto small = bench.take_turns(
        {{[&] { return small_direct_run(bench, true); }}, {[&] { return small_direct_run(bench, false); }}});
    const double slower = std::max(median(small[0]), median(small[1])) * 1e9;
    direct["call_ns"] = rounded(std::max(call_ns, slower - kSmallBytes * direct["write_byte_ns"].get<double>()));
    entry["direct"] = direct;
    bench.found.gains = {{"write", std::min(contests.gain(Contests::kNew), contests.gain(Contests::kOver))},
                         {"read", contests.gain(Contests::kRead)}};
  }
  entry["direct_reads"] = has_direct && bench.found.gains["read"] > kClearlyBetter;
  entry["direct_writes"] = has_direct && bench.found.gains["write"] > kClearlyBetter;
  entry["queue_depth"] = point.depth;
  entry["transfer_bytes"] = point.transfer_bytes;
}

}  // namespace tool
