// Costs of files: making them, and the speed of all threads that write to one, to few, or to one each.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int kFiles = 500;
constexpr int64_t kAccessBytes = 8 * kMiB;

// In a new folder that stays until all are measured: ext4 searches long near recently freed inodes.
double make_files(const Workbench& bench, int& folders) {
  const std::string folder = fmt::format("{}/{}", bench.folder.path(), folders++);
  std::filesystem::create_directory(folder);
  return seconds_of([&] {
    for (int i = 0; i < kFiles; ++i) const ScratchFile made(fmt::format("{}/{:06d}", folder, i));
  });
}

// Threads that write their shares of some files.
class Writers {
 public:
  Writers(const Workbench& bench, int64_t tasks, int64_t n_files)
      : bench_(bench), tasks_(tasks), share_(std::max(kAccessBytes / tasks / kMiB * kMiB, kMiB)) {
    for (int64_t i = 0; i < n_files; ++i)
      files_.emplace_back(fmt::format("{}/{}of{}", bench.folder.path(), i, n_files));
    write();  // warm-up: allocates pages
  }

  double write() const {
    return together(tasks_, [&](int64_t rank, const TimedWork& timed) {
      const int64_t begin = rank / std::ssize(files_) * share_;
      timed([&] {
        plain_move(true, files_[static_cast<size_t>(rank) % files_.size()], bench_.source, {begin, begin + share_});
      });
    });
  }
  int64_t bytes() const { return tasks_ * share_; }

 private:
  const Workbench& bench_;
  const int64_t tasks_, share_;
  std::vector<ScratchFile> files_;
};

}  // namespace

void measure_files(Workbench& bench) {
  int folders = 0;
  const auto making = bench.take_turns({{[&] { return make_files(bench, folders); }}});
  // The minimum: recent deletions on the file system slow the others down.
  bench.found.entry["create_ns"] = rounded(std::ranges::min(making[0]) * 1e9 / kFiles);

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  const std::set<int64_t> numbers = {1, std::min(tasks, kFilesPerNode), tasks};
  std::deque<Writers> writers;
  std::vector<Timed> runs;
  for (const int64_t files : numbers) {
    const Writers& own = writers.emplace_back(bench, tasks, files);
    runs.push_back({[&own] { return own.write(); },
                    fmt::format("write, {} to {}", count_text(tasks, "thread"), count_text(files, "file")),
                    own.bytes()});
  }
  const auto seconds = bench.take_turns(runs);
  double best = 0;
  for (size_t i = 0; const int64_t files : numbers) {
    const double speed = static_cast<double>(runs[i].bytes) / median(seconds[i]);
    if (speed >= 1.2 * best) {  // more files only where they are clearly faster
      bench.found.entry["physical_files"] = files;
      best = speed;
    }
    ++i;
  }
}

}  // namespace tool
