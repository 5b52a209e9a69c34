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
  const std::string folder = fmt::format("{}/{}", bench.folder.path, folders++);
  std::filesystem::create_directory(folder);
  Lap lap;
  for (int i = 0; i < kFiles; ++i) const PosixFile made(fmt::format("{}/{:06d}", folder, i), PosixFile::Use::create);
  return lap();
}

// Threads that write their shares of some files, all at once.
double write_files(const Workbench& bench, int64_t tasks, const std::vector<PosixFile>& files, int64_t share) {
  return together(tasks, [&](int64_t rank, const auto& /*begin*/) {
    const int64_t begin = rank / std::ssize(files) * share;
    const PosixFile& file = files[static_cast<size_t>(rank) % files.size()];
    plain_move(true, file, bench.source.span(), {begin, begin + share});
  });
}

}  // namespace

void measure_files(Workbench& bench) {
  int folders = 0;
  const Timed& making = bench.add("", [&] { return make_files(bench, folders); });
  bench.take_turns();
  // The minimum: recent deletions on the file system slow the others down.
  bench.found.entry["create_ns"] = rounded(std::ranges::min(making.seconds) * 1e9 / kFiles);

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  const int64_t share = std::max(kAccessBytes / tasks / kMiB * kMiB, kMiB);
  const std::set<int64_t> numbers = {1, std::min(tasks, kFilesPerNode), tasks};
  std::deque<std::vector<PosixFile>> all;
  std::vector<const Timed*> runs;
  for (const int64_t n : numbers) {
    std::vector<PosixFile>& files = all.emplace_back();
    for (int64_t i = 0; i < n; ++i)
      files.emplace_back(fmt::format("{}/{}of{}", bench.folder.path, i, n), PosixFile::Use::create);
    const auto write = [&bench, &files, tasks, share] { return write_files(bench, tasks, files, share); };
    write();  // allocates pages
    runs.push_back(&bench.add(fmt::format("write, {} to {}", count_text(tasks, "thread"), count_text(n, "file")), write,
                              tasks * share));
  }
  bench.take_turns();
  double best = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double speed = 1 / runs[i]->median();
    if (speed < 1.2 * best) continue;  // more files only where they are clearly faster
    bench.found.entry["physical_files"] = all[i].size();
    best = speed;
  }
}

}  // namespace tool
