#include "posix_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "method.hpp"

namespace probe {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux moves at most 2 GiB minus a page per call
constexpr std::size_t kWindow = std::size_t{1} << 20;
constexpr std::size_t kSerialPiece = std::size_t{4} << 20;

bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAligned == 0; }
bool is_aligned(std::int64_t offset) { return offset % static_cast<std::int64_t>(kAligned) == 0; }

int open_file(const std::string& path, PosixFile::Use use, int more) {
  const int flags = use == PosixFile::Use::create ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | more, 0666);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

// Reads bytes of the file from `offset` on; fewer than requested only at its end.
std::size_t read_some(int fd, std::span<std::byte> bytes, std::int64_t offset, const std::string& path) {
  std::size_t got = 0;
  while (got < bytes.size()) {
    const std::size_t ask = std::min(bytes.size() - got, kMostAtOnce);
    const ssize_t n = ::pread(fd, &bytes[got], ask, offset + static_cast<std::int64_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno("read", path);
    got += static_cast<std::size_t>(n);
    // With direct I/O the rest of a short request would not be aligned.
    if (n == 0 || !is_aligned(n)) break;
  }
  return got;
}

void write_all(int fd, std::span<const std::byte> bytes, std::int64_t offset, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), std::min(bytes.size(), kMostAtOnce), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  const std::size_t rounded = std::max(kAligned, (bytes + kAligned - 1) / kAligned * kAligned);
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAligned, rounded)));
  if (memory_ == nullptr) throw std::bad_alloc();
}

void Buffer::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

PosixFile::PosixFile(std::string path, Use use, bool direct) : path_(std::move(path)), direct_(direct) {
  fd_ = open_file(path_, use, direct ? O_DIRECT : 0);
  if (fd_ < 0 && direct && errno == EINVAL) {  // a file system without direct I/O
    direct_ = false;
    fd_ = open_file(path_, use, 0);
  }
  if (fd_ < 0) fail_errno(use == Use::create ? "create" : "open", path_);
}

PosixFile::~PosixFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PosixFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 && errno != EINTR) fail_errno("close", path_);
}

void PosixFile::sync() {
  if (::fsync(fd_) != 0) fail_errno("sync", path_);
}

void PosixFile::leave_direct() {
  const int flags = ::fcntl(fd_, F_GETFL);
  if (flags < 0 || ::fcntl(fd_, F_SETFL, flags & ~O_DIRECT) < 0) fail_errno("set flags of", path_);
}

void PosixFile::write(std::span<const std::byte> bytes, std::int64_t offset) {
  if (!direct_) return write_all(fd_, bytes, offset, path_);
  // Parts that are no whole pages go through the page cache.
  const bool fits = is_aligned(bytes.data()) && is_aligned(offset);
  const std::size_t whole = fits ? bytes.size() / kAligned * kAligned : 0;
  write_all(fd_, bytes.first(whole), offset, path_);
  if (whole == bytes.size()) return;
  leave_direct();
  write_all(fd_, bytes.subspan(whole), offset + static_cast<std::int64_t>(whole), path_);
  const int flags = ::fcntl(fd_, F_GETFL);
  if (flags < 0 || ::fcntl(fd_, F_SETFL, flags | O_DIRECT) < 0) fail_errno("set flags of", path_);
}

// Reads bytes at `offset` through aligned memory, at most as many as the window holds.
std::size_t PosixFile::read_window(std::span<std::byte> bytes, std::int64_t offset) {
  if (window_.size() == 0) window_ = Buffer(kWindow);
  const bool inside = offset >= window_begin_ && offset < window_begin_ + static_cast<std::int64_t>(window_bytes_);
  if (!inside) {
    window_begin_ = offset - offset % static_cast<std::int64_t>(kAligned);
    window_bytes_ = read_some(fd_, window_.span(), window_begin_, path_);
  }
  const auto skipped = static_cast<std::size_t>(offset - window_begin_);
  if (skipped >= window_bytes_) return 0;
  const std::size_t n = std::min(bytes.size(), window_bytes_ - skipped);
  std::memcpy(bytes.data(), window_.span().data() + skipped, n);
  return n;
}

void PosixFile::read(std::span<std::byte> bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const bool straight = !direct_ || (is_aligned(bytes.data()) && is_aligned(offset) && bytes.size() >= kAligned);
    const std::size_t ask = direct_ ? bytes.size() / kAligned * kAligned : bytes.size();
    const std::size_t n = straight ? read_some(fd_, bytes.first(ask), offset, path_) : read_window(bytes, offset);
    if (n == 0)
      throw Failed("'" + path_ + "' ends at byte " + std::to_string(offset) + ", " + std::to_string(bytes.size()) +
                   " bytes too early");
    bytes = bytes.subspan(n);
    offset += static_cast<std::int64_t>(n);
  }
}

void see_file(const std::string& path, std::int64_t bytes,
              const std::function<void(std::int64_t first, std::span<const std::byte> bytes)>& see) {
  PosixFile file(path, PosixFile::Use::read, false);
  const Buffer piece(std::min(static_cast<std::size_t>(bytes), kSerialPiece));
  for (std::int64_t offset = 0; offset < bytes;) {
    const auto n = std::min(static_cast<std::size_t>(bytes - offset), piece.size());
    file.read(piece.span().first(n), offset);
    see(offset / kElement, piece.span().first(n));
    offset += static_cast<std::int64_t>(n);
  }
  file.close();
}

}  // namespace probe
