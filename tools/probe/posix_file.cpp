#include "posix_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace probe {

namespace {

constexpr std::size_t kPage = 4096;

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

}  // namespace probe
