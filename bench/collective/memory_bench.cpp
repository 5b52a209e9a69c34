// (g) Memory of a collective beyond the caller's, on the rank that uses most: peak resident memory during the call
// minus that before. Thalweg comes first, in a process that has not moved a byte, so that memory kept for later calls
// counts.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "collective/parts.hpp"
#include "support/child.hpp"

namespace bench {

namespace {

constexpr double kMiB = 1 << 20;
constexpr double kAsked = 16 + 1;  // MiB: the default staging buffer, and one more

// MiB that `work` uses at most on any rank.
template <class Work>
double taken(const Ranks& ranks, const Work& work) {
  malloc_trim(0);
  ranks.meet();
  reset_peak_memory();
  const std::int64_t before = current_memory();
  work();
  return ranks.largest(static_cast<double>(std::max<std::int64_t>(peak_memory() - before, 0)) / kMiB);
}

struct Taken {
  std::vector<double> write, read;
};

void measure(Bench& bench, const std::string& what, const Layout& layout) {
  Memory memory(layout.bytes);
  const Access access = whole_of(layout, memory);
  const auto take = [&](const std::string& name, const OpenFile& open, double bound) {
    Taken all;
    for (int i = 0; i < pick(bench.effort, 1, 2, 3); ++i) {
      const std::string path = bench.storage.fresh_path(0);
      auto file = open(path, layout);
      const std::uint32_t seed = next_seed();
      memory.fill(layout, seed);
      all.write.push_back(taken(bench.ranks, [&] { file->write(access); }));
      memory.clear();
      all.read.push_back(taken(bench.ranks, [&] { file->read(access); }));
      must_be_right(memory.wrong(layout, seed), bench.named(what));
      file.reset();
      bench.storage.drop(path);
    }
    if (!bench.ranks.first()) return;
    for (const auto& [phase, values] : {std::pair{"write", all.write}, std::pair{"read", all.read}}) {
      const Spread spread = spread_of(values);
      const std::string title = bench.named(fmt::format("memory of a rank, {}, {}, {}", what, name, phase));
      bench.report.add_fact(title, spread.high, fmt::format("{}: {:.1f} MiB", title, spread.high));
      if (bound > 0) bench.report.add_target({title, {spread.high, spread.low, spread.high}, bound, false, "MiB"});
    }
  };
  take("ours", ours(bench.group), kAsked);
  take("MPI_File_write_all", mpi_collective(), 0);
}

}  // namespace

void bench_memory(Bench& bench) {
  if (bench.storage.in_memory()) return;
  const int rank = bench.ranks.rank(), ranks = bench.ranks.size();
  const int n = pick(bench.effort, 16, 256, 512);
  measure(bench, fmt::format("coll_perf {}^3", n), block_of_cube(n, rank, ranks));
  measure(bench, "pieces of 512 B", interleaved(512, pick(bench.effort, 64, 16384, 131072), rank, ranks));
}

}  // namespace bench
