// The experiments of Stream* (Moore, Hatcher, Quinn: Efficient data-parallel files via automatic mode detection, 1996):
// 64K virtual processors write and read 64 doubles each, 32 MiB, by accesses of 1, 8 and 64 doubles, in modes NB, CB and
// IB; then by accesses of one double in mode CB with buffers of 8 and 32 bytes, and in mode IB with blocks of 16, 32 and
// 64 bytes, 2, 6 and 14 pointers in an entry of the directory, and caches of several sizes.
#include <fmt/format.h>

#include "grid.hpp"

namespace bench {

namespace {

constexpr std::int64_t kDoubles = 64;  // of each virtual processor

// A way that takes turns: its name, and what it writes.
Comparison compare(Bench& bench, const Grid& grid, const std::string& name, const std::vector<Way>& ways) {
  Comparison comparison(name, {grid.bytes(), "byte"}, {"write", "read"});
  for (const Way& way : ways)
    comparison.add(way.name,
                   [&bench, grid, way](int repetition) { return write_and_read(bench, grid, way, repetition); });
  comparison.run(bench.plan());
  bench.report.add(comparison, bench.scratch.kind());
  return comparison;
}

void ask(Bench& bench, const Comparison& comparison, const char* of, const char* to, double bound) {
  for (const char* phase : {"write", "read"})
    bench.report.add_target({bench.on(fmt::format("{}: {} to {}, {}", comparison.name(), of, to, phase)),
                             comparison.speed(of, to, phase), bound, true, "x"});
}

std::string accesses(std::int64_t doubles) {
  return fmt::format("{} double{} in an access", doubles, doubles == 1 ? "" : "s");
}

}  // namespace

void bench_requests(Bench& bench) {
  const std::int64_t vps = pick<std::int64_t>(bench.effort, 256, 65536, 65536);
  const auto grid = [&](std::int64_t doubles) { return Grid{vps, doubles, static_cast<int>(kDoubles / doubles)}; };
  for (const std::int64_t doubles : {1, 8, 64}) {
    const Comparison comparison = compare(bench, grid(doubles), accesses(doubles),
                                          {{"plain collective", Kind::plain, ""},
                                           {"NB", Kind::packed, ""},
                                           {"NB, nobody asks", Kind::packed, "assume_nb=on"},
                                           {"CB", Kind::strided, ""},
                                           {"IB", Kind::ragged, "directory_pointers=2"}});
    ask(bench, comparison, "IB", "NB", 0.6);  // the published one
  }
  std::vector<Way> ways;
  for (const int bytes : {8, 32})
    ways.push_back({fmt::format("CB, buffers of {}", bytes), Kind::strided, fmt::format("round_bytes={}", bytes)});
  for (const int bytes : {16, 32, 64})
    ways.push_back({fmt::format("IB, blocks of {}", bytes), Kind::ragged,
                    fmt::format("block_bytes={},directory_pointers=2", bytes)});
  for (const int pointers : {6, 14})
    ways.push_back({fmt::format("IB, blocks of 64, {} pointers", pointers), Kind::ragged,
                    fmt::format("block_bytes=64,directory_pointers={}", pointers)});
  for (const char* bytes : {"1MiB", "64MiB"})
    ways.push_back({fmt::format("IB, blocks of 64, caches of {}", bytes), Kind::ragged,
                    fmt::format("block_bytes=64,directory_pointers=2,cache_bytes={}", bytes)});
  const Comparison comparison = compare(bench, grid(1), "buffers, blocks, pointers and caches", ways);
  ask(bench, comparison, "IB, blocks of 16", "IB, blocks of 64", 0.62);  // the published one
}

}  // namespace bench
