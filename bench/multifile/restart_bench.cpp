// (d) Restart with another number of tasks: the files of 4 tasks are read by 1, 2, 3 and 8 tasks, each an even share of
// all blocks, which may begin in the middle of a logical file or span several. The peer reads equal shares of
// task-local files.
#include <fmt/format.h>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"

namespace bench {

namespace {

constexpr int kWriters = 4;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

void compare(Bench& bench, const std::filesystem::path& folder, const Load& load, int readers) {
  Comparison comparison(fmt::format("restart: written by {} tasks, read by {}", kWriters, readers),
                        {load.bytes(), "byte"}, {"read"});
  comparison.add("thalweg", [&](int repetition) -> std::vector<double> {
    return {read_multifile_shared(folder, load, readers, repetition == -1 ? Check::all_bytes : Check::stamps)};
  });
  comparison.add("task-local files", [&](int repetition) -> std::vector<double> {
    return {read_task_local_shared(folder, load, readers, repetition == -1 ? Check::all_bytes : Check::stamps)};
  });
  comparison.run(bench.plan(7, true));
  const Spread ratio = comparison.speed("thalweg", "task-local files", "read");
  comparison.note("speed against task-local files",
                  fmt::format("{:.2f} ({:.2f} .. {:.2f})", ratio.median, ratio.low, ratio.high));
  bench.report.add(comparison, bench.scratch.kind());
}

}  // namespace

void bench_restart(Bench& bench) {
  const double mib = pick(bench.effort, 4.0, 64.0, 1024.0);
  Load load = make_load(kWriters, mib * 1024 * 1024, kBlockBytes);
  const auto folder = bench.scratch.fresh();
  write_multifile(folder, load, thalweg::Options());
  write_task_local(folder, load);
  for (const int readers : {1, 2, 3, 8}) compare(bench, folder, load, readers);
  bench.scratch.drop_bytes(folder);
}

}  // namespace bench
