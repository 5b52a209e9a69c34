// Bytes: through the page cache with system calls, also from staging, and past it with the library.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thalweg/file.hpp>

#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int kSmallCalls = 128;
constexpr int64_t kSmallBytes = 4096;
constexpr std::array kStaging = {kMiB / 4, kMiB, 4 * kMiB};

// Writing and reading with one of several settings.
struct Tried {
  const Timed &write, &read;

  double cost() const { return write.median() + read.median(); }
};

// The number of the first setting that is nearly as good as the best.
size_t first_good(const std::vector<Tried>& tried) {
  const double best = std::ranges::min_element(tried, {}, &Tried::cost)->cost();
  const auto good = std::ranges::find_if(tried, [&](const Tried& t) { return t.cost() <= best * kClearlyBetter; });
  return static_cast<size_t>(good - tried.begin());
}

// Settings of direct I/O.
struct Point {
  int64_t depth, transfer_bytes;

  std::string hints() const { return fmt::format("queue_depth={},transfer_bytes={}", depth, transfer_bytes); }
};

constexpr std::array kPoints = {Point{1, kMiB}, Point{2, kMiB},     Point{4, kMiB},  Point{4, 4 * kMiB},
                                Point{8, kMiB}, Point{8, 4 * kMiB}, Point{16, kMiB}, Point{32, kMiB}};

Tried add_both(Workbench& bench, const std::string& how, const std::function<double(bool writes)>& once) {
  return {bench.add("write, " + how, [once] { return once(true); }),
          bench.add("read, " + how, [once] { return once(false); })};
}

Point choose_point(Workbench& bench) {
  std::vector<Tried> tried;
  tried.reserve(kPoints.size());
  for (const Point& point : kPoints)
    tried.push_back(add_both(
        bench, fmt::format("direct, 1 thread, {} in flight of {}", point.depth, short_size(point.transfer_bytes)),
        [&](bool writes) { return bench.direct_run(writes, false, 1, point.hints()); }));
  bench.take_turns();
  return kPoints.at(first_good(tried));
}

// Overwrites cached pages from memory that stays in a core's cache, or reads them into it.
double staged_run(const Workbench& bench, std::span<std::byte> staging, bool writes) {
  Lap lap;
  plain_move(writes, bench.cached, staging, {0, bench.options.bytes, std::ssize(staging)});
  const double seconds = lap();
  if (writes) bench.cached.sync();
  return seconds;
}

// One thing that is done with a file: with system calls, and past the page cache where that is possible.
struct Contest {
  const Timed *plain = nullptr, *direct = nullptr;
};
enum What : size_t { kNew, kOver, kRead };
using Contests = std::array<Contest, 3>;

Contests add_contests(Workbench& bench, int64_t tasks, const Point& point) {
  constexpr std::array kNames = {"write, new file", "write, overwriting", "read"};
  Contests contests;
  for (const What what : {kNew, kOver, kRead}) {
    const bool writes = what != kRead, fresh = what == kNew;
    const std::string text = fmt::format("{}, {}, ", kNames.at(what), count_text(tasks, "thread"));
    contests.at(what).plain =
        &bench.add(text + "system calls", [=, &bench] { return bench.plain_run(writes, fresh, tasks); });
    if (bench.options.has_direct)
      contests.at(what).direct =
          &bench.add(text + "direct", [=, &bench] { return bench.direct_run(writes, fresh, tasks, point.hints()); });
  }
  return contests;
}

// Seconds of one direct access of 4 KiB.
double small_direct_run(const Workbench& bench, bool writes) {
  thalweg::Options options;
  options.hints("io=direct");
  thalweg::File file(thalweg::Group::self(), bench.past_cache.path(), writes ? TW_WRITE : TW_READ, options);
  Lap lap;
  for (int i = 0; i < kSmallCalls; ++i) {
    const int64_t at = i * 17 % (std::ssize(bench.source.span()) / kSmallBytes) * kSmallBytes;
    if (writes)
      file.write_at(bench.source.span().subspan(static_cast<size_t>(at), kSmallBytes), at);
    else
      file.read_at(bench.target.span().subspan(static_cast<size_t>(at), kSmallBytes), at);
  }
  return lap() / kSmallCalls;
}

// The costs of one way, from the contests of one task and of all. On a busy machine two threads get more time than one:
// all gain from writing one file at once where they are `faster` by that factor.
Json costs_of(const Contests& one, const Contests& all, const Timed* Contest::*way, double faster) {
  const auto speed_up = [&](What what) { return median_ratio(*(one.at(what).*way), *(all.at(what).*way)); };
  return {{"write_byte_ns", (one[kOver].*way)->byte_ns()},
          {"read_byte_ns", (one[kRead].*way)->byte_ns()},
          {"parallel_writes", speed_up(kOver) > faster ? 0 : 1},
          {"parallel_reads", speed_up(kRead) < 0.9 ? 1 : 0}};
}

// The costs of direct I/O, and its gains, where there is any.
void add_direct(Workbench& bench, const Contests& one, const Contests& all) {
  Json& direct = bench.found.entry["direct"] = bench.found.entry["buffered"];
  direct.update(costs_of(one, all, &Contest::direct, 0.9));
  direct["staged_write_byte_ns"] = direct["write_byte_ns"];
  direct["staged_read_byte_ns"] = direct["read_byte_ns"];
  const Timed& write = bench.add("", [&] { return small_direct_run(bench, true); });
  const Timed& read = bench.add("", [&] { return small_direct_run(bench, false); });
  bench.take_turns();
  const double slower = std::max(write.median(), read.median()) * 1e9;
  const double call_ns = slower - kSmallBytes * direct["write_byte_ns"].get<double>();
  direct["call_ns"] = rounded(std::max(direct["call_ns"].get<double>(), call_ns));

  const auto gain = [&](What what) {
    return std::min(median_ratio(*one.at(what).plain, *one.at(what).direct),
                    median_ratio(*all.at(what).plain, *all.at(what).direct));
  };
  bench.found.gains = {{"write", std::min(gain(kNew), gain(kOver))}, {"read", gain(kRead)}};
}

}  // namespace

// Direct I/O is enabled where it won every contest; buffered writes are not synced.
void measure_bytes(Workbench& bench) {
  Json& entry = bench.found.entry;
  Point point = {4, 4 * kMiB};
  if (bench.options.has_direct) {
    bench.direct_run(true, true, 1, point.hints());
    point = choose_point(bench);
  }
  std::vector<Buffer> buffers;
  std::vector<Tried> staged;
  for (const int64_t bytes : kStaging) {
    const std::span<std::byte> memory = buffers.emplace_back(filled(bytes, 2)).span();
    staged.push_back(add_both(bench, short_size(bytes) + " of staging",
                              [&bench, memory](bool writes) { return staged_run(bench, memory, writes); }));
  }
  const Contests one = add_contests(bench, 1, point);
  const Contests all = bench.options.tasks > 1 ? add_contests(bench, bench.options.tasks, point) : one;
  bench.take_turns();

  Json& buffered = entry["buffered"];
  const size_t good = first_good(staged);
  buffered.update(costs_of(one, all, &Contest::plain, 1.25));
  buffered["staged_write_byte_ns"] = staged[good].write.byte_ns();
  buffered["staged_read_byte_ns"] = staged[good].read.byte_ns();
  if (bench.options.has_direct) add_direct(bench, one, all);
  entry["direct_reads"] = bench.found.gains.value("read", 0.0) > kClearlyBetter;
  entry["direct_writes"] = bench.found.gains.value("write", 0.0) > kClearlyBetter;
  entry["queue_depth"] = point.depth;
  entry["transfer_bytes"] = point.transfer_bytes;
  entry["staging_bytes"] = kStaging.at(good);
}

}  // namespace tool
