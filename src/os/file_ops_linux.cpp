#include "os/file_ops.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>

#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 63) - 1;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the kernel takes 2 GiB less a page
constexpr int kMostBusyTries = 1000;

static_assert(sizeof(off_t) == 8);

off_t as_off(std::uint64_t offset) { return static_cast<off_t>(offset); }

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

std::string at_text(std::size_t bytes, std::uint64_t offset, const std::string& path) {
  return std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " of '" + path + "'";
}

Status check_range(const char* verb, std::size_t bytes, std::uint64_t offset, const std::string& path) {
  if (offset <= kMostOffset && bytes <= kMostOffset - offset) return {};
  return Status::error(Code::out_of_range,
                       std::string("cannot ") + verb + " " + at_text(bytes, offset, path) + ": files end at 2^63-1");
}

// What to do after a transfer call failed with `err`: true to try again. Some network and FUSE file systems answer
// EAGAIN on ordinary files when they are busy.
bool try_again(int err, int* busy_tries) {
  if (err == EINTR) return true;
  if (err != EAGAIN || ++*busy_tries > kMostBusyTries) return false;
  sleep_for(std::chrono::milliseconds(1));
  return true;
}

// The parts that are still to be written, as the kernel wants them.
class Remaining {
 public:
  explicit Remaining(std::span<const ByteView> parts) : parts_(parts) { skip_empty(); }
  bool any() const { return !parts_.empty(); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const ByteView part : parts_) sum += part.size();
    return sum - done_;
  }
  void advance(std::size_t bytes) {
    done_ += bytes;
    skip_empty();
  }
  // As many as one call takes.
  std::span<const iovec> vectors() {
    std::size_t total = 0;
    std::size_t count = 0;
    std::size_t skip = done_;
    for (const ByteView part : parts_) {
      if (count == vectors_.size() || total == kMostAtOnce) break;
      const std::size_t bytes = std::min(part.size() - skip, kMostAtOnce - total);
      // The kernel only reads; iovec serves both directions and so has no const.
      if (bytes > 0) vectors_[count++] = {const_cast<std::byte*>(part.data() + skip), bytes};
      total += bytes;
      skip = 0;
    }
    return std::span(vectors_).first(count);
  }

 private:
  void skip_empty() {
    while (!parts_.empty() && done_ >= parts_.front().size()) {
      done_ -= parts_.front().size();
      parts_ = parts_.subspan(1);
    }
  }

  std::span<const ByteView> parts_;
  std::size_t done_ = 0;  // of the first part
  std::array<iovec, IOV_MAX> vectors_;
};

ssize_t write_vectors(int fd, std::span<const iovec> vectors, std::uint64_t offset) {
  const TransferCalls& calls = transfer_calls();
  if (vectors.size() == 1) return calls.write(fd, vectors[0].iov_base, vectors[0].iov_len, as_off(offset));
  return calls.write_parts(fd, vectors.data(), static_cast<int>(vectors.size()), as_off(offset));
}

}  // namespace

TransferCalls& transfer_calls() {
  static TransferCalls calls{::pread, ::pwrite, ::pwritev, ::fdatasync};
  return calls;
}

void close_descriptor(int fd) { (void)::close(fd); }

namespace {

Result<FileDescriptor> check_kind(FileDescriptor file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    const int err = errno;
    return os_error(err, "cannot look at '" + path + "'");
  }
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) return file;
  const char* kind = S_ISDIR(status.st_mode) ? "a directory" : S_ISFIFO(status.st_mode) ? "a pipe" : "a device";
  return Status::error(Code::io_error, "'" + path + "' is " + kind + ", not a file");
}

}  // namespace

Result<FileDescriptor> open_file(const std::string& path, FileAccess access, FileCreation creation) {
  // A pipe without a partner must not keep us waiting; on files O_NONBLOCK means nothing.
  int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (access == FileAccess::read ? O_RDONLY : O_RDWR);
  if (creation == FileCreation::truncate) flags |= O_CREAT | O_TRUNC;
  if (creation == FileCreation::keep) flags |= O_CREAT;
  if (creation == FileCreation::exclusive) flags |= O_CREAT | O_EXCL;
  const int fd = retried([&] { return ::open(path.c_str(), flags, 0666); });
  if (fd >= 0) return check_kind(FileDescriptor(fd), path);
  const int err = errno;
  const char* purpose = access == FileAccess::read ? "for reading" : "for writing";
  return os_error(
      err, std::string(creation == FileCreation::never ? "cannot open '" : "cannot create '") + path + "' " + purpose);
}

Status close_file(FileDescriptor file, const std::string& path) {
  if (::close(file.release()) == 0) return {};
  const int err = errno;
  if (err == EINTR) return {};  // Linux has closed it; a second close could hit a file of another thread
  return os_error(err, "cannot close '" + path + "'");
}

Status write_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset,
                std::span<const ByteView> parts) {
  Remaining remaining(parts);
  TW_RETURN_IF_ERROR(check_range("write", remaining.bytes(), offset, path));
  int busy_tries = 0;
  while (remaining.any()) {
    const ssize_t got = write_vectors(file.get(), remaining.vectors(), offset);
    const int err = got == 0 ? EIO : errno;  // 0 would be for ever
    if (got > 0) {
      remaining.advance(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    } else if (got == 0 || !try_again(err, &busy_tries)) {
      return os_error(err, "cannot write " + at_text(remaining.bytes(), offset, path));
    }
  }
  return {};
}

Result<std::size_t> read_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset, ByteSpan data) {
  TW_RETURN_IF_ERROR(check_range("read", data.size(), offset, path));
  std::size_t done = 0;
  int busy_tries = 0;
  while (done < data.size()) {
    const std::size_t now = std::min(data.size() - done, kMostAtOnce);
    const ssize_t got = transfer_calls().read(file.get(), data.data() + done, now, as_off(offset + done));
    const int err = errno;
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (!try_again(err, &busy_tries)) {
      return os_error(err, "cannot read " + at_text(data.size() - done, offset + done, path));
    }
  }
  return done;
}

Result<std::uint64_t> file_size(const FileDescriptor& file, const std::string& path) {
  struct stat found;
  if (::fstat(file.get(), &found) == 0) return static_cast<std::uint64_t>(found.st_size);
  const int err = errno;
  return os_error(err, "cannot tell the size of '" + path + "'");
}

Status truncate_file(const FileDescriptor& file, const std::string& path, std::uint64_t bytes) {
  TW_RETURN_IF_ERROR(check_range("truncate to", 0, bytes, path));
  if (retried([&] { return ::ftruncate(file.get(), as_off(bytes)); }) == 0) return {};
  const int err = errno;
  return os_error(err, "cannot set the size of '" + path + "' to " + std::to_string(bytes) + " bytes");
}

Status preallocate_file(const FileDescriptor& file, const std::string& path, std::uint64_t offset,
                        std::uint64_t bytes) {
  TW_RETURN_IF_ERROR(check_range("reserve", bytes, offset, path));
  if (bytes == 0) return {};
  if (retried([&] { return ::fallocate(file.get(), 0, as_off(offset), as_off(bytes)); }) == 0) return {};
  const int err = errno;
  if (err == EOPNOTSUPP || err == ENOSYS) return {};
  return os_error(err, "cannot reserve " + at_text(bytes, offset, path));
}

Status sync_file(const FileDescriptor& file, const std::string& path) {
  if (retried([&] { return transfer_calls().sync(file.get()); }) == 0) return {};
  const int err = errno;
  return os_error(err, "cannot bring '" + path + "' to the storage");
}

bool lock_file(const FileDescriptor& file) {
  return retried([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0 || errno != EWOULDBLOCK;
}

Result<bool> is_named(const FileDescriptor& file, const std::string& path) {
  struct stat open = {};
  struct stat named = {};
  int err = ::fstat(file.get(), &open) == 0 ? 0 : errno;
  if (err == 0 && ::stat(path.c_str(), &named) != 0) err = errno;
  if (err == 0) return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  if (err == ENOENT || err == ENOTDIR) return false;
  return os_error(err, "cannot look at '" + path + "'");
}

Result<std::uint64_t> next_data_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset) {
  TW_RETURN_IF_ERROR(check_range("look for data from", 0, offset, path));
  const off_t found = ::lseek(file.get(), as_off(offset), SEEK_DATA);
  if (found >= 0) return static_cast<std::uint64_t>(found);
  const int err = errno;
  if (err == ENXIO) return file_size(file, path);
  if (err == EINVAL || err == EOPNOTSUPP) return offset;  // holes cannot be told from data here
  return os_error(err, "cannot look for data from offset " + std::to_string(offset) + " of '" + path + "'");
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  const int err = errno;
  return os_error(err, "cannot remove '" + path + "'");
}

Result<bool> file_exists(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) == 0) return true;
  const int err = errno;
  if (err == ENOENT || err == ENOTDIR) return false;
  return os_error(err, "cannot tell whether '" + path + "' exists");
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status sync_folder(const std::string& folder) {
  const FileDescriptor file(retried([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  int err = errno;
  if (!file.is_open()) return os_error(err, "cannot open folder '" + folder + "'");
  if (retried([&] { return ::fsync(file.get()); }) == 0) return {};
  err = errno;
  if (err == EINVAL || err == EROFS) return {};  // this file system keeps no folders that could be synced
  return os_error(err, "cannot bring folder '" + folder + "' to the storage");
}

}  // namespace thalweg
