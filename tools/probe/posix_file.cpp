#include "posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "folder.hpp"

namespace probe {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux moves at most 2 GiB minus a page per call

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, std::max(kPage, whole_pages(bytes)))));
  if (memory_ == nullptr) throw std::bad_alloc();
}

PosixFile::PosixFile(std::string path, Use use, bool direct) : path_(std::move(path)), direct_(direct) {
  const int flags = use == Use::create ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
  fd_ = ::open(path_.c_str(), flags | O_CLOEXEC | (direct ? O_DIRECT : 0), 0666);
  if (fd_ < 0) fail_errno(use == Use::create ? "create" : "open", path_);
}

PosixFile::~PosixFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PosixFile::close() {
  if (direct_ && written_ > 0 && ::ftruncate(fd_, written_) != 0) fail_errno("cut", path_);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 && errno != EINTR) fail_errno("close", path_);
}

void PosixFile::sync() {
  if (::fsync(fd_) != 0) fail_errno("sync", path_);
}

void PosixFile::write(std::span<const std::byte> bytes, std::int64_t offset) {
  written_ = std::max(written_, offset + std::ssize(bytes));
  const std::size_t all = direct_ ? whole_pages(bytes.size()) : bytes.size();
  for (std::size_t done = 0; done < all;) {
    const std::size_t n = std::min(all - done, kMostAtOnce);
    const ssize_t moved = ::pwrite(fd_, bytes.data() + done, n, offset + static_cast<std::int64_t>(done));
    if (moved < 0 && errno != EINTR) fail_errno("write", path_);
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

// Reads `wanted` bytes, and up to `most` where the file does not end.
void PosixFile::read_pages(std::byte* memory, std::size_t wanted, std::size_t most, std::int64_t offset) {
  for (std::size_t done = 0; done < wanted;) {
    const std::size_t n = std::min(most - done, kMostAtOnce);
    const ssize_t moved = ::pread(fd_, memory + done, n, offset + static_cast<std::int64_t>(done));
    if (moved < 0 && errno != EINTR) fail_errno("read", path_);
    if (moved == 0) throw Failed("'" + path_ + "' ends " + std::to_string(wanted - done) + " bytes too early");
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

void PosixFile::read(std::span<std::byte> bytes, std::int64_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (!direct_ || (address | bytes.size() | static_cast<std::size_t>(offset)) % kPage == 0)
    return read_pages(bytes.data(), bytes.size(), bytes.size(), offset);
  if (copy_.span().empty()) {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail_errno("look at", path_);
    copy_ = Buffer(static_cast<std::size_t>(status.st_size));
    read_pages(copy_.span().data(), copy_.span().size(), whole_pages(copy_.span().size()), 0);
  }
  const auto from = static_cast<std::size_t>(offset);
  if (from + bytes.size() > copy_.span().size()) throw Failed("'" + path_ + "' is too short");
  std::memcpy(bytes.data(), copy_.span().data() + from, bytes.size());
}

}  // namespace probe
