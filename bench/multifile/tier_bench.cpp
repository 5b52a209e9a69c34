// (i) The time that a program stands still for a checkpoint, from the open to the close: on a slow file system, and in the
// tiers of the nodes, which a thread drains meanwhile. bench/multifile/slow_mount.sh mounts a file system of 100 MB/s.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <thread>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

// A fresh folder in memory.
class TierFolder {
 public:
  TierFolder() : path_(std::filesystem::path("/dev/shm") / fmt::format("thalweg_bench_tier_{}", getpid())) {
    std::filesystem::create_directory(path_);
  }
  TierFolder(const TierFolder&) = delete;
  TierFolder& operator=(const TierFolder&) = delete;
  ~TierFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string hint() const { return "tier=" + path_.string(); }

 private:
  std::filesystem::path path_;
};

// An open for reading waits for the drain.
void await_drain(const std::filesystem::path& folder, const TierFolder& tier) {
  thalweg::Multifile(multifile_in(folder), TW_READ, thalweg::Options().hints(tier.hint())).close();
}

}  // namespace

void bench_tier(Bench& bench) {
  if (bench.scratch.in_memory()) return;
  const int tasks = 2;
  Load load = make_load(tasks, pick(bench.effort, 4.0, 128.0, 256.0) * 1024 * 1024, std::size_t{1} << 20);
  const TierFolder tier;
  Comparison comparison("a checkpoint that the program waits for", {load.bytes(), "byte"},
                        {"stands still", "on storage"});
  const auto add = [&](const std::string& name, const std::string& hints, bool drains) {
    comparison.add(name, [&bench, &load, &tier, hints, drains](int) -> std::vector<double> {
      bench.scratch.settle();
      const auto folder = bench.scratch.fresh();
      const double start = now();
      const double still = write_multifile(folder, load, thalweg::Options().hints(hints));
      if (drains) await_drain(folder, tier);
      const double stored = now() - start;
      read_multifile(folder, load, Check::all_bytes);
      bench.scratch.drop_bytes(folder);
      return {still, stored};
    });
  };
  add("blocking", "sync_on_close=on", false);
  add("tier", tier.hint() + ",drain=async", true);
  comparison.run(bench.plan(5, false));
  bench.report.add(comparison, bench.scratch.kind());
  const bool slow = bench.scratch.kind() == "unknown";  // FUSE
  if (slow)
    bench.report.add_target({bench.on("a checkpoint in the tier: how much shorter the program stands still"),
                             comparison.speed("tier", "blocking", "stands still"), 10, true, "x"});
}

}  // namespace bench
