// Scratch folders, their file system and the page cache, on Linux.
#include "support/scratch.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/clock.hpp"

namespace bench {

namespace {

std::mutex mutex;
std::set<std::filesystem::path> roots;  // guarded by mutex

// Asks ext4 to place each new folder below `folder` in a different part of the disk (chattr +T). No effect on other
// file systems.
void spread_folders(const std::filesystem::path& folder) {
#ifndef FS_TOPDIR_FL
  constexpr int kSpread = 0x00020000;
#else
  constexpr int kSpread = FS_TOPDIR_FL;
#endif
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= kSpread;
    ioctl(fd, FS_IOC_SETFLAGS, &flags);
  }
  close(fd);
}

void remove_tree(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void give_up(const std::string& message) {
  const std::scoped_lock lock(mutex);  // kept: other threads that fail now block here
  std::fprintf(stderr, "thalweg-bench: %s\n", message.c_str());
  for (const auto& root : roots) remove_tree(root);
  std::_Exit(1);
}

void clean_up_when_interrupted() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by all threads created later; one thread waits for the
                                                  // signals
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    give_up("interrupted");
  }).detach();
}

std::int64_t must(std::int64_t result, const std::string& what) {
  const int error = errno;
  if (result < 0) give_up(what + ": " + std::strerror(error));  // NOLINT(concurrency-mt-unsafe)
  return result;
}

std::string file_system_kind(const std::filesystem::path& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) return "unknown";
  switch (static_cast<unsigned long>(info.f_type)) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case TMPFS_MAGIC:
      return "tmpfs";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case 0x65735546:
      return "fuse";
    case NFS_SUPER_MAGIC:
      return "nfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case 0x0BD00BD0:
      return "lustre";
    case 0x47504653:
      return "gpfs";
    case 0x2FC12FC1:
      return "zfs";
    default:
      return "unknown";
  }
}

Scratch::Scratch(const std::filesystem::path& parent) {
  std::string name = (parent / "thalweg-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) must(-1, "cannot create a folder in '" + parent.string() + "'");
  folder_ = name;
  kind_ = file_system_kind(folder_);
  const std::scoped_lock lock(mutex);
  roots.insert(folder_);
  spread_folders(folder_);
}

Scratch::~Scratch() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) folders.push_back(entry.path());
  std::atomic<std::size_t> next = 0;
  const auto remove_some = [&] {
    for (std::size_t i = next++; i < folders.size(); i = next++) remove_tree(folders[i]);
  };
  {
    const std::jthread helper(remove_some);  // many small files: two threads are twice as fast
    remove_some();
  }
  remove_tree(folder_);
  const std::scoped_lock lock(mutex);
  roots.erase(folder_);
}

std::filesystem::path Scratch::fresh() {
  const auto folder = folder_ / std::to_string(made_++);
  must(std::filesystem::create_directory(folder) ? 0 : -1, "cannot make '" + folder.string() + "'");
  return folder;
}

std::filesystem::path Scratch::fresh_for_many_files() {
  if (kind_ != "ext4" || !settles_) return fresh();
  constexpr int kTries = 8, kFiles = 256;
  constexpr double kGood = 10e-6;  // seconds per file
  std::filesystem::path best;
  double best_seconds = 0;
  for (int i = 0; i < kTries && (best.empty() || best_seconds > kGood * kFiles); ++i) {
    const auto folder = fresh();
    const double seconds = seconds_of([&] {
      for (int file = 0; file < kFiles; ++file) {
        const std::string name = (folder / ("try-" + std::to_string(file))).string();
        close(static_cast<int>(must(open(name.c_str(), O_WRONLY | O_CREAT, 0666), "cannot make '" + name + "'")));
      }
    });
    if (!best.empty() && seconds >= best_seconds) continue;
    best = folder;
    best_seconds = seconds;
  }
  return best;
}

void Scratch::drop_bytes(const std::filesystem::path& folder) const { remove_tree(folder); }

void Scratch::drop_tree(const std::filesystem::path& folder) const {
  if (kind_ != "ext4") remove_tree(folder);
}

void Scratch::settle() {
  if (!settles_) return;
  const double start = now();
  const int fd =
      static_cast<int>(must(open(folder_.c_str(), O_RDONLY | O_DIRECTORY), "cannot open the scratch folder"));
  must(syncfs(fd), "cannot sync the scratch folder");
  close(fd);
  settling_ += now() - start;
}

void Scratch::claim_memory(double bytes, std::size_t write_bytes) const {
  if (!settles_) return;
  static const std::vector<std::byte> block(kClaimWrite, std::byte{'c'});
  const std::string name = (folder_ / "claim").string();
  const int fd = static_cast<int>(must(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), "cannot create a file"));
  for (double done = 0; done < bytes; done += static_cast<double>(write_bytes))
    must(write(fd, block.data(), write_bytes), "cannot write '" + name + "'");
  must(close(fd), "cannot close '" + name + "'");
  must(unlink(name.c_str()), "cannot remove '" + name + "'");
}

std::int64_t Scratch::free_bytes() const {
  struct statvfs info {};
  must(statvfs(folder_.c_str(), &info), "cannot read the free space");
  return static_cast<std::int64_t>(info.f_bavail * info.f_frsize);
}

std::int64_t Scratch::free_inodes() const {
  struct statvfs info {};
  must(statvfs(folder_.c_str(), &info), "cannot read the number of free inodes");
  return static_cast<std::int64_t>(info.f_favail);
}

std::int64_t allocated_bytes(const std::filesystem::path& folder) {
  constexpr std::int64_t kUnit = 512;  // unit of st_blocks
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat info {};
    must(stat(entry.path().c_str(), &info), "cannot stat '" + entry.path().string() + "'");
    bytes += info.st_blocks * kUnit;
  }
  return bytes;
}

void drop_cache(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().string();
    const int fd = static_cast<int>(must(open(name.c_str(), O_RDONLY), "cannot open '" + name + "'"));
    must(fsync(fd), "cannot sync '" + name + "'");
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

}  // namespace bench
