#include "folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "posix_file.hpp"

namespace probe {

namespace {

namespace fs = std::filesystem;

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// Number of the file's pages in memory.
std::ptrdiff_t resident_pages(int fd, std::size_t bytes) {
  void* const address = bytes == 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return 0;
  std::vector<unsigned char> pages((bytes + kPage - 1) / kPage);
  if (::mincore(address, bytes, pages.data()) != 0) pages.clear();
  ::munmap(address, bytes);
  return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
}

}  // namespace

void sync_folder(const std::string& folder, int rank, int size) {
  std::vector<std::string> paths = {folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) paths.push_back(entry.path().string());
  std::ranges::sort(paths);  // an equal order on all ranks
  for (auto i = static_cast<std::size_t>(rank); i < paths.size(); i += static_cast<std::size_t>(size))
    PosixFile(paths[i], PosixFile::Use::read).sync();
}

std::int64_t block_bytes(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail_errno("look at", folder);
  return std::max<std::int64_t>(4096, status.st_blksize);
}

bool drop_pages(const std::string& folder) {
  std::size_t bytes = 0, left = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const PosixFile file(entry.path().string(), PosixFile::Use::read);
    ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
    bytes += entry.file_size();
    left += static_cast<std::size_t>(resident_pages(file.fd(), entry.file_size())) * kPage;
  }
  constexpr std::size_t kOneIn = 16;  // pages that the kernel still uses may stay
  return left * kOneIn <= bytes;
}

}  // namespace probe
