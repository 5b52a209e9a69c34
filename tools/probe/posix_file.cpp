#include "posix_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

namespace probe {

namespace {

namespace fs = std::filesystem;

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// `move(done)` moves some of the bytes behind the first `done` ones, as a system call does.
template <typename Move>
void move_all(std::size_t bytes, const char* action, const std::string& path, Move move) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno != EINTR) fail_errno(action, path);
    if (moved == 0) throw Failed("'" + path + "' ends " + std::to_string(bytes - done) + " bytes too early");
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

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

void fail_errno(const std::string& action, const std::string& path) {
  const int code = errno;
  throw Failed("cannot " + action + " '" + path + "': " + std::generic_category().message(code));
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  memory_.reset(
      static_cast<std::byte*>(std::aligned_alloc(kPage, std::max(kPage, (bytes + kPage - 1) / kPage * kPage))));
  if (memory_ == nullptr) throw std::bad_alloc();
}

PosixFile::PosixFile(std::string path, Use use) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), (use == Use::create ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY) | O_CLOEXEC, 0666);
  if (fd_ < 0) fail_errno(use == Use::create ? "create" : "open", path_);
}

PosixFile::~PosixFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PosixFile::close() {
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail_errno("close", path_);
}

void PosixFile::sync() const {
  if (::fsync(fd_) != 0) fail_errno("sync", path_);
}

void PosixFile::write(std::span<const std::byte> bytes, std::int64_t offset) const {
  move_all(bytes.size(), "write", path_, [&](std::size_t done) {
    return ::pwrite(fd_, bytes.data() + done, bytes.size() - done, offset + static_cast<std::int64_t>(done));
  });
}

void PosixFile::read(std::span<std::byte> bytes, std::int64_t offset) const {
  move_all(bytes.size(), "read", path_, [&](std::size_t done) {
    return ::pread(fd_, bytes.data() + done, bytes.size() - done, offset + static_cast<std::int64_t>(done));
  });
}

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
