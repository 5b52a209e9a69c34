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

#include "methods/scratch_folder.hpp"
#include "threads.hpp"
#include "tune_measure.hpp"

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

// All threads write their share at once, then read it, in one file or in a file each.
class Contestants {
 public:
  Contestants(const Workbench& bench, int64_t tasks, bool shared) : bench_(bench), tasks_(tasks), shared_(shared) {
    for (int64_t i = 0; i < (shared ? 1 : tasks); ++i)
      files_.push_back(std::make_unique<ScratchFile>(bench.options.folder));
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
    const int64_t begin = shared_ ? rank * share : 0;
    const ScratchFile& file = *files_[shared_ ? 0 : static_cast<size_t>(rank)];
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
  const bool shared_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ScratchFile>> files_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

struct Named {
  Contestants* who;
  const char* files;
  int64_t tasks;
};

// Adds its runs, and for each an entry of `found` without speed.
void add_runs(const Named& named, std::vector<Timed>& runs, Measured& found) {
  for (const bool writes : {true, false}) {
    for (const int64_t bytes : kTransfers) {
      runs.emplace_back([named, writes, bytes] { return named.who->pass(writes, bytes); });
      found.accesses.push_back({named.files, named.tasks, writes, bytes, {}});
    }
  }
}

}  // namespace

void measure_access(Workbench& bench, Measured& found) {
  Folders folders;
  const Timed making[] = {[&] { return make_files(bench.options.folder, folders); }};
  // The minimum: recent deletions on the file system slow the others down.
  found.create_ns = spread_of(bench.take_turns(making)[0]).least * 1e9 / kFiles;

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  Contestants one(bench, 1, true), shared(bench, tasks, true), own(bench, tasks, false);
  std::vector<Timed> runs;
  for (const Named& named :
       {Named{&one, "one file", 1}, Named{&shared, "one file", tasks}, Named{&own, "a file each", tasks}})
    add_runs(named, runs, found);
  const auto seconds = bench.take_turns(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    const int64_t n = found.accesses[i].tasks;
    const int64_t moved = n * std::max(kAccessBytes / n / kMiB * kMiB, kMiB);
    found.accesses[i].mib_per_s = mib_per_s(seconds[i], moved);
  }
}

}  // namespace tool
