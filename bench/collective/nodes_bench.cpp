// (j) Ranks on several nodes that TCP connects: patterns of a shared file against the best of MPI-IO, with what each way
// sends over the network. run.sh --nodes emulates the nodes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collective/parts.hpp"

namespace bench {

namespace {

constexpr std::int64_t kKi = 1024, kMi = kKi * kKi;
constexpr const char* kOurs = "ours";
constexpr double kNone = 1e18;  // behind every file

// Peers: all of MPI-IO that a user would try.
std::vector<std::pair<std::string, OpenFile>> peers() {
  return {{"MPI_File_write_at", mpi_independent()},
          {"MPI_File_write_at, no sieving", mpi_independent("romio_ds_write=disable,romio_ds_read=disable")},
          {"MPI_File_write_at_all", mpi_collective()},
          {"MPI_File_write_at_all, two-phase",
           mpi_collective("romio_cb_write=enable,romio_cb_read=enable,romio_ds_write=disable")}};
}

// By variant, of each phase of each repetition.
using Traffics = std::map<std::string, std::vector<std::vector<Traffic>>>;

double median_of(const std::vector<std::vector<Traffic>>& all, std::size_t phase, double Traffic::*number) {
  std::vector<double> numbers;
  for (const auto& phases : all) numbers.push_back(phases.at(phase).*number);
  return spread_of(numbers).median;
}

void report_traffic(Bench& bench, const Comparison& results, const Traffics& traffics) {
  for (std::size_t i = 0; i < kWriteAndRead.size(); ++i) {
    const std::string& phase = kWriteAndRead[i];
    for (const auto& [variant, all] : traffics) {
      const double bytes = median_of(all, i, &Traffic::bytes), packets = median_of(all, i, &Traffic::packets);
      bench.report.add_fact(fmt::format("{}: {}, {}: sent", results.name(), variant, phase),
                            {{"bytes", bytes}, {"packets", packets}},
                            fmt::format("  {:<34} {:<6} {:>9.3f} MiB in {:>6.0f} packets between nodes", variant, phase,
                                        bytes / kMi, packets));
    }
  }
}

void compare(Bench& bench, const std::string& what, const Layout& layout, double bound) {
  Memory memory(layout.bytes);
  Together together(bench.ranks, bench.named(what), {static_cast<double>(layout.file_bytes), "byte"}, kWriteAndRead);
  Traffics traffics;
  std::vector<std::string> names;
  std::map<std::string, std::string> lost;  // peers without locks between nodes lose bytes; what they lost first
  const auto add = [&](const std::string& name, const OpenFile& open) {
    const auto judge = [&, name](std::int64_t wrong, const std::string& after) {
      if (name.starts_with(kOurs)) return must_be_right(wrong, after);
      const double first = -bench.ranks.largest(wrong < 0 ? -kNone : -static_cast<double>(wrong));
      if (first < kNone) lost.try_emplace(name, fmt::format("{}: wrong bytes at {:.0f}", after, first));
    };
    together.add(name, [&, name, run = write_and_read(bench, name, open, {layout, memory}, judge)](int repetition) {
      const std::vector<double> seconds = run(repetition);
      traffics[name].push_back(bench.ranks.take_traffic());
      return seconds;
    });
  };
  add(kOurs, ours(bench.group));
  if (bench.effort == Effort::full)
    for (const char* hints : {"method=direct", "method=aggregate"})
      add(fmt::format("ours, {}", hints), ours(bench.group, {.hints = hints}));
  for (const auto& [name, open] : peers()) {
    names.push_back(name);
    add(name, open);
  }
  Plan plan = bench.plan(together.variants());
  if (bench.effort == Effort::quick) plan.seconds /= 2;  // six runs in six minutes
  together.run(plan);
  bench.say(together);
  if (!bench.ranks.first()) return;
  const Comparison& results = together.results();
  for (const auto& [name, where] : lost) bench.report.add_fact(where, "not compared", "  " + where + "; not compared");
  std::erase_if(names, [&](const std::string& name) { return lost.count(name) > 0; });
  if (names.empty())
    bench.report.add_fact(results.name() + ": target", "none: every way of MPI-IO lost bytes",
                          results.name() + ": no target, as every way of MPI-IO lost bytes");
  for (const std::string& phase : kWriteAndRead)
    if (!names.empty()) bench.ask(together, kOurs, results.fastest(names, phase), phase, bound);
  report_traffic(bench, results, traffics);
}

}  // namespace

void bench_nodes(Bench& bench) {
  const int rank = bench.ranks.rank(), ranks = bench.ranks.size();
  const std::int64_t each = pick<std::int64_t>(bench.effort, kMi / 16, 8 * kMi, 32 * kMi);
  const std::int64_t most = pick<std::int64_t>(bench.effort, 64, 8192, 65536);
  const auto pieces = [&](std::int64_t piece) { return std::clamp<std::int64_t>(each / piece, 1, most); };
  for (const std::int64_t piece : {std::int64_t{8}, std::int64_t{512}, 4 * kKi, 64 * kKi, kMi}) {
    const std::string text = piece < kKi   ? fmt::format("{} B", piece)
                             : piece < kMi ? fmt::format("{} KiB", piece / kKi)
                                           : fmt::format("{} MiB", piece / kMi);
    compare(bench, "pieces of " + text, interleaved(piece, pieces(piece), rank, ranks), piece <= 4 * kKi ? 2 : 1);
  }
  compare(bench, "a block of each rank", contiguous(each, 1, rank, ranks), 1);
  const int n = pick(bench.effort, 16, 128, 256);
  compare(bench, fmt::format("coll_perf {}^3", n), block_of_cube(n, rank, ranks), 1);
  const std::array<int, 4> sizes =
      pick<std::array<int, 4>>(bench.effort, {2, 4, 8, 16}, {16, 32, 64, 32}, {32, 64, 128, 64});
  compare(bench, fmt::format("4-D array {}x{}x{}x{}", sizes[0], sizes[1], sizes[2], sizes[3]),
          rows_of_4d(sizes, rank, ranks), 1);
}

}  // namespace bench
