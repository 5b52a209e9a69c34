// (d) Interleaved small pieces of all ranks, and (e) the short rows of a 4-D array.
#include <fmt/format.h>

#include "collective/parts.hpp"

namespace bench {

namespace {

void compare(Bench& bench, const std::string& what, const Layout& layout, double bound) {
  Memory memory(layout.bytes);
  Together together(bench.ranks, bench.named(what), {static_cast<double>(layout.file_bytes), "byte"}, kWriteAndRead);
  const auto add = [&](const char* name, const OpenFile& open) {
    together.add(name, write_and_read(bench, name, open, {layout, memory}));
  };
  add("ours", ours(bench.group));
  add_plans(together, bench, {layout, memory});
  add("MPI_File_write_all", mpi_collective());
  together.add("limit: one stream", one_stream(bench, {layout, memory}));
  together.run(bench.plan(together.variants()));
  bench.say(together);
  for (const char* phase : {"write", "read"}) bench.ask(together, "ours", "MPI_File_write_all", phase, bound);
}

// The number of pieces is chosen so that all sizes take about equal time.
std::int64_t pieces_each(const Bench& bench, std::int64_t piece) {
  constexpr std::int64_t kMiB = 1 << 20;
  const std::int64_t most = pick<std::int64_t>(bench.effort, kMiB / 16, 16 * kMiB, 64 * kMiB) / piece;
  return std::max<std::int64_t>(1, std::min<std::int64_t>(most, pick(bench.effort, 64, 16384, 131072)));
}

}  // namespace

void bench_small(Bench& bench) {
  const auto sizes =
      pick<std::vector<std::int64_t>>(bench.effort, {8, 4096}, {8, 512, 4096, 65536}, {8, 64, 512, 4096, 65536});
  for (const std::int64_t piece : sizes) {
    const auto text = piece < 1024 ? fmt::format("{} B", piece) : fmt::format("{} KiB", piece / 1024);
    compare(bench, "pieces of " + text,
            interleaved(piece, pieces_each(bench, piece), bench.ranks.rank(), bench.ranks.size()), 2);
  }
}

void bench_rows(Bench& bench) {
  const std::array<int, 4> sizes =
      pick<std::array<int, 4>>(bench.effort, {2, 4, 8, 16}, {16, 32, 64, 32}, {32, 64, 128, 64});
  compare(bench, fmt::format("4-D array {}x{}x{}x{}", sizes[0], sizes[1], sizes[2], sizes[3]),
          rows_of_4d(sizes, bench.ranks.rank(), bench.ranks.size()), 0);
}

}  // namespace bench
