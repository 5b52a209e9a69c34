#include "caches.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "method.hpp"

namespace probe {

namespace {

class Opened {
 public:
  explicit Opened(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail_errno("open", path);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

void sync_one(const std::string& path) {
  const Opened file(path);
  if (::fsync(file.fd()) != 0) fail_errno("sync", path);
}

// Files and folders below the folder, and the folder itself, in equal order on all ranks.
std::vector<std::string> all_below(const std::string& folder) {
  std::vector<std::string> paths = {folder};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
std::size_t pages_of(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes(); }

// Number of the file's pages in memory.
std::size_t resident_pages(int fd, std::size_t bytes) {
  if (bytes == 0) return 0;
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return 0;
  std::vector<unsigned char> pages(pages_of(bytes));
  const bool known = ::mincore(address, bytes, pages.data()) == 0;
  ::munmap(address, bytes);
  if (!known) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; }));
}

}  // namespace

void sync_folder(const Ranks& ranks, const std::string& folder) {
  must_mpi(MPI_Barrier(ranks.all()), "MPI_Barrier");  // all files are closed
  const std::vector<std::string> paths = all_below(folder);
  for (auto i = static_cast<std::size_t>(ranks.rank()); i < paths.size(); i += static_cast<std::size_t>(ranks.size()))
    sync_one(paths[i]);
}

bool drop_pages(const std::string& folder) {
  std::size_t pages = 0;
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const Opened file(entry.path().string());
    ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
    const auto bytes = static_cast<std::size_t>(entry.file_size());
    pages += pages_of(bytes);
    left += resident_pages(file.fd(), bytes);
  }
  constexpr std::size_t kOneIn = 16;  // pages that the kernel still uses may stay
  return left * kOneIn <= pages;
}

bool lives_in_memory(const std::string& folder) {
  struct statfs found {};
  if (::statfs(folder.c_str(), &found) != 0) fail_errno("stat the file system of", folder);
  return found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC;
}

}  // namespace probe
