// Costs of files and transfers beyond the page cache's bytes: creating files, and the speed of one file, or of one per
// thread, for transfers of several sizes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>

#include "threads.hpp"
#include "tune_measure.hpp"
#include "tune_scratch.hpp"

namespace tool {
namespace {

constexpr int kFiles = 500;
constexpr int64_t kAccessBytes = 8 * kMiB;
constexpr int64_t kTransfers[] = {4096, 64 * 1024, kMiB};

std::string name_in(const std::string& folder, int i) { return fmt::format("{}/{:06d}", folder, i); }

using Folders = std::vector<std::unique_ptr<ScratchFolder>>;

// In a new folder that stays until all are measured: ext4 searches long near recently freed inodes.
double make_files(const std::string& parent, Folders& folders) {
  folders.push_back(std::make_unique<ScratchFolder>(parent));
  return seconds_of([&] {
    for (int i = 0; i < kFiles; ++i) {
      const std::string path = name_in(folders.back()->path(), i);
      const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (!file) fail_with_errno("make", path);
    }
  });
}

// All threads write their share at once, then read it, in one file, in few or in a file each.
class Contestants {
 public:
  Contestants(const Workbench& bench, int64_t tasks, int64_t n_files) : bench_(bench), tasks_(tasks) {
    for (int64_t i = 0; i < n_files; ++i) files_.push_back(std::make_unique<ScratchFile>(bench.options.folder));
    pass(true, kMiB);  // warm-up: allocates pages
  }

  double pass(bool writes, int64_t call_bytes) {
    stop_if_interrupted();
    Times times(tasks_);
    std::barrier all_there(tasks_);
    on_threads(tasks_, [&](int64_t rank, const std::atomic<bool>&) {
      all_there.arrive_and_wait();
      times.begin[static_cast<size_t>(rank)] = Clock::now();
      work(rank, writes, call_bytes);
      times.end[static_cast<size_t>(rank)] = Clock::now();
    });
    return times.seconds();
  }

 private:
  void work(int64_t rank, bool writes, int64_t call_bytes) {
    const int64_t share = kAccessBytes / tasks_ / kMiB * kMiB;
    const int64_t begin = rank / std::ssize(files_) * share;
    const ScratchFile& file = *files_[static_cast<size_t>(rank) % files_.size()];
    const Stretch stretch{begin, begin + std::max(share, kMiB), call_bytes};
    writes ? plain_write(file, bench_.source, stretch) : plain_read(file, memory_of(rank), stretch);
  }

  const Memory& memory_of(int64_t rank) {
    const std::lock_guard lock(mutex_);
    while (static_cast<int64_t>(memory_.size()) <= rank)
      memory_.push_back(std::make_unique<Memory>(static_cast<size_t>(kMiB)));
    return *memory_[static_cast<size_t>(rank)];
  }

  const Workbench& bench_;
  const int64_t tasks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ScratchFile>> files_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

// Adds the runs of `who`, and for each an entry of `found` like `as`, without speed.
void add_runs(Contestants& who, AccessSpeed as, std::vector<Timed>& runs, Measured& found) {
  for (as.writes = true;; as.writes = false) {
    for (const int64_t bytes : kTransfers) {
      runs.emplace_back([&who, writes = as.writes, bytes] { return who.pass(writes, bytes); });
      as.transfer_bytes = bytes;
      found.accesses.push_back(as);
    }
    if (!as.writes) return;
  }
}

// More files than fewer ones only where all threads together write so much faster to them.
void choose_files(Measured& found) {
  double best = 0;
  for (const AccessSpeed& each : found.accesses) {
    const bool counts = each.writes && each.transfer_bytes == kMiB && each.tasks == found.accesses.back().tasks;
    if (!counts || each.mib_per_s.median < 1.2 * best) continue;
    found.physical_files = each.n_files;
    best = each.mib_per_s.median;
  }
}

}  // namespace

void measure_access(Workbench& bench, Measured& found) {
  Folders folders;
  const Timed making[] = {[&] { return make_files(bench.options.folder, folders); }};
  // The minimum: recent deletions on the file system slow the others down.
  found.create_ns = spread_of(bench.take_turns(making)[0]).least * 1e9 / kFiles;

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  Contestants one(bench, 1, 1), shared(bench, tasks, 1), few(bench, tasks, kFilesPerNode), own(bench, tasks, tasks);
  std::vector<Timed> runs;
  add_runs(one, {"one file", 1, 1}, runs, found);
  add_runs(shared, {"one file", tasks, 1}, runs, found);
  if (tasks > kFilesPerNode) add_runs(few, {"4 files", tasks, kFilesPerNode}, runs, found);
  add_runs(own, {"a file each", tasks, tasks}, runs, found);
  const auto seconds = bench.take_turns(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    const int64_t n = found.accesses[i].tasks;
    const int64_t moved = n * std::max(kAccessBytes / n / kMiB * kMiB, kMiB);
    found.accesses[i].mib_per_s = mib_per_s(seconds[i], moved);
  }
  choose_files(found);
}

}  // namespace tool
