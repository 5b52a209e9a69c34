// NB, CB and IB compared with a plain collective write of the bytes; block sizes, pointers per entry.
#include <fmt/format.h>

#include "grid.hpp"
#include "numpy_peer.hpp"

namespace bench {

namespace {

constexpr const char* kPlain = "plain collective";
constexpr const char* kNb = "NB";
constexpr const char* kAssumed = "NB, nobody asks";
constexpr const char* kCb = "CB";
constexpr const char* kStrided = "CB, every other double";
constexpr const char* kIb = "IB";
constexpr const char* kNumpy = "NumPy, one process";

void add(Comparison& comparison, Bench& bench, const Grid& grid, Way way) {
  const std::string name = way.name;
  comparison.add(name, [&bench, grid, way = std::move(way)](int repetition) {
    return write_and_read(bench, grid, way, repetition);
  });
}

void add_numpy(Comparison& comparison, Bench& bench, const Grid& grid) {
  const std::string python = python_with_numpy();
  if (python.empty()) return;
  comparison.add(kNumpy, [&bench, grid, python](int) {
    const auto folder = bench.scratch.fresh();
    bench.scratch.settle();
    const auto seconds = write_and_read_by_numpy(python, folder / "array", grid.vps * grid.doubles * grid.steps);
    bench.scratch.drop_bytes(folder);
    return seconds;
  });
}

Comparison compare(Bench& bench, const Grid& grid, const std::string& name, const std::vector<Way>& ways) {
  Comparison comparison(name, {grid.bytes(), "byte"}, {"write", "read"});
  for (const Way& way : ways) add(comparison, bench, grid, way);
  if (ways.front().kind == Kind::plain) add_numpy(comparison, bench, grid);
  comparison.run(bench.plan());
  bench.report.add(comparison, bench.scratch.kind());
  return comparison;
}

void add_ratio(Bench& bench, const Comparison& comparison, const std::string& of, const std::string& to,
               const char* phase, double bound) {
  bench.report.add_target({bench.on(fmt::format("{}: {} to {}, {}", comparison.name(), of, to, phase)),
                           comparison.speed(of, to, phase), bound, true, "x"});
}

std::vector<Grid> grids(Effort effort) {
  if (effort == Effort::tiny) return {{256, 8, 1}};
  if (effort == Effort::quick) return {{65536, 64, 1}};
  return {{65536, 64, 1}, {1 << 20, 64, 1}, {1 << 24, 8, 1}, {65536, 8, 16}};
}

std::string name_of_grid(const Grid& grid) {
  const std::string steps = grid.steps == 1 ? "" : fmt::format(", {} steps", grid.steps);
  return fmt::format("{} VPs x {} doubles{}", grid.vps, grid.doubles, steps);
}

}  // namespace

void bench_modes(Bench& bench) {
  for (const Grid& grid : grids(bench.effort)) {
    const Comparison comparison = compare(bench, grid, name_of_grid(grid),
                                          {{kPlain, Kind::plain, ""},
                                           {kNb, Kind::packed, ""},
                                           {kAssumed, Kind::packed, "assume_nb=on"},
                                           {kCb, Kind::uneven, ""},
                                           {kStrided, Kind::strided, ""},
                                           {kIb, Kind::ragged, ""}});
    add_ratio(bench, comparison, kNb, kPlain, "write", 0.98);
    add_ratio(bench, comparison, kNb, kPlain, "read", 0.98);
    add_ratio(bench, comparison, kNb, kAssumed, "write", 0.99);
    add_ratio(bench, comparison, kCb, kNb, "write", 0.95);
    add_ratio(bench, comparison, kStrided, kNb, "write", 0.95);
    const double bound = grid.steps > 1 ? 0.4 : grid.vps > (1 << 20) ? 0.3 : 0.75;
    add_ratio(bench, comparison, kIb, kNb, "write", bound);
    add_ratio(bench, comparison, kIb, kNb, "read", bound);
  }
}

void bench_blocks(Bench& bench) {
  const Grid grid = grids(bench.effort)[0];
  std::vector<Way> ways;
  for (const int block : {16, 32, 64, 256, 1024})
    ways.push_back({fmt::format("blocks of {}", block), Kind::ragged, fmt::format("block_bytes={}", block)});
  for (const int pointers : {2, 14})
    ways.push_back({fmt::format("blocks of 64, {} pointers", pointers), Kind::ragged,
                    fmt::format("block_bytes=64,directory_pointers={}", pointers)});
  const Comparison comparison = compare(bench, grid, "IB, " + name_of_grid(grid), ways);
  add_ratio(bench, comparison, "blocks of 16", "blocks of 64", "write", 0.75);
  add_ratio(bench, comparison, "blocks of 16", "blocks of 64", "read", 0.75);
}

}  // namespace bench
