// Costs of files: making them, and the speed of all threads that write to one, to few, or to one each.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <set>

#include "tune_measure.hpp"
#include "tune_scratch.hpp"

namespace tool {
namespace {

constexpr int kFiles = 500;
constexpr int64_t kAccessBytes = 8 * kMiB;

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

// Threads that write their shares of some files.
class Writers {
 public:
  Writers(const Workbench& bench, int64_t tasks, int64_t n_files)
      : bench_(bench), tasks_(tasks), share_(std::max(kAccessBytes / tasks / kMiB * kMiB, kMiB)) {
    for (int64_t i = 0; i < n_files; ++i) files_.push_back(std::make_unique<ScratchFile>(bench.options.folder));
    write();  // warm-up: allocates pages
  }

  double write() const {
    return together(tasks_, [&](int64_t rank) {
      const int64_t begin = rank / std::ssize(files_) * share_;
      plain_write(*files_[static_cast<size_t>(rank) % files_.size()], bench_.source, {begin, begin + share_});
    });
  }
  int64_t bytes() const { return tasks_ * share_; }

 private:
  const Workbench& bench_;
  const int64_t tasks_, share_;
  std::vector<std::unique_ptr<ScratchFile>> files_;
};

}  // namespace

void measure_access(Workbench& bench, Measured& found) {
  Folders folders;
  const Timed making[] = {[&] { return make_files(bench.options.folder, folders); }};
  // The minimum: recent deletions on the file system slow the others down.
  found.create_ns = spread_of(bench.take_turns(making)[0]).least * 1e9 / kFiles;

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  std::deque<Writers> writers;
  std::vector<Timed> runs;
  for (const int64_t files : std::set<int64_t>{1, std::min(tasks, kFilesPerNode), tasks}) {
    found.files.push_back({files, tasks});
    runs.emplace_back([&own = writers.emplace_back(bench, tasks, files)] { return own.write(); });
  }
  const auto seconds = bench.take_turns(runs);
  double best = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Spread speed = found.files[i].mib_per_s = mib_per_s(seconds[i], writers[i].bytes());
    if (speed.median < 1.2 * best) continue;  // more files only where they are clearly faster
    found.physical_files = found.files[i].files;
    best = speed.median;
  }
}

}  // namespace tool
