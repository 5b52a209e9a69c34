// (1) to (4): segments of 4 KiB to 64 MiB per call, written and read by 1 to 16 threads, through the page cache, with a
// sync at the end, and past the page cache.
#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>

#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

std::string size_text(std::size_t bytes) {
  return bytes >= (1U << 20) ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

// memcpy of the same bytes by the same threads: no page cache can be faster.
double copy_in_memory(const Segments& load, std::vector<char>& to) {
  return seconds_of([&] {
#pragma omp parallel for schedule(static, 1) num_threads(load.arrays.threads())
    for (int t = 0; t < load.arrays.threads(); ++t) {
      const std::size_t each = load.arrays.bytes_each();
      for (std::size_t at = 0; at < each; at += load.segment)
        std::memcpy(to.data() + static_cast<std::size_t>(t) * each + at, load.arrays.of(t) + at, load.segment);
    }
  });
}

Comparison::Run one_run(Bench& bench, const Segments& load, Way way) {
  return [&bench, load, way = std::move(way)](int repetition) -> std::vector<double> {
    bench.scratch.settle();
    // Where memory is at its end the pages of the file before are still warm: all variants find the same.
    bench.scratch.claim_memory(load.arrays.bytes());
    const auto folder = bench.scratch.fresh();
    const double write = way.write(folder, load);
    if (load.store == Store::direct) drop_cache(folder);
    const bool checks = repetition <= 0;
    if (checks) load.arrays.clear();
    const double read = way.read(folder, load);
    if (checks) load.arrays.check(way.name.c_str());
    bench.scratch.drop_bytes(folder);
    return {write, read};
  };
}

void add_targets(Bench& bench, const Comparison& comparison, const Segments& load) {
  const std::string what =
      fmt::format("{} threads, {}, {}", load.arrays.threads(), size_text(load.segment), store_name(load.store));
  const auto target = [&](const std::string& phase, const std::string& ours, const std::string& peer, double bound) {
    bench.report.add_target({bench.on(fmt::format("{}: {} to {}, {}", what, ours, peer, phase)),
                             comparison.speed(ours, peer, phase), bound, true, "x"});
  };
  const bool large = load.segment >= (1U << 20);
  target("write", "write_all", "ordered", large ? 1.5 : 1.0);
  if (large) target("write", "write_all", "file per thread", 1.0);
  if (large && load.store == Store::cache) target("read", "write_at_all", "memcpy", 0.95);
}

void compare(Bench& bench, int threads, std::size_t segment, Store store) {
  const std::size_t total = pick<std::size_t>(bench.effort, 1 << 20, 256 << 20, std::size_t{512} << 20);
  const std::size_t each = std::max(total / static_cast<std::size_t>(threads) / segment, std::size_t{1}) * segment;
  Arrays arrays(threads, bench.effort == Effort::tiny ? segment : each);
  const Segments load{arrays, segment, store};
  Comparison comparison(fmt::format("{} threads, segments of {}, {}", threads, size_text(segment), store_name(store)),
                        {arrays.bytes(), "byte"}, {"write", "read"});
  for (const Way& way : ways(store)) comparison.add(way.name, one_run(bench, load, way));
  std::vector<char> copy(static_cast<std::size_t>(arrays.bytes()));
  comparison.add("memcpy", [&](int) {
    const double seconds = copy_in_memory(load, copy);
    return std::vector<double>{seconds, seconds};
  });
  comparison.run(bench.plan(7));
  bench.report.add(comparison, bench.scratch.kind());
  if (threads == 2) add_targets(bench, comparison, load);
}

}  // namespace

void bench_segments(Bench& bench) {
  const std::vector<std::size_t> sizes = pick<std::vector<std::size_t>>(
      bench.effort, {4096, 1 << 20}, {4096, 1 << 20, 16 << 20}, {4096, 64 << 10, 1 << 20, 16 << 20, 64 << 20});
  for (const int threads : bench.threads) {
    for (const std::size_t segment : sizes) {
      // One call of 16 threads with 64 MiB is a GiB: more would not fit everywhere.
      for (const Store store : {Store::cache, Store::sync, Store::direct}) {
        if (bench.scratch.in_memory() && store != Store::cache) continue;
        if (store == Store::direct && segment < (64U << 10)) continue;  // calls of one block: the device's latency only
        compare(bench, threads, segment, store);
      }
    }
  }
}

}  // namespace bench
