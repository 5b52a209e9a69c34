// Every system call on files, with what the kernel may do short of failing handled here once: calls that a signal
// interrupted are repeated, short transfers continued, long ones split. `path` is for messages.
//
// Threads: any number may use one descriptor at once; no call here depends on its position.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/endian.hpp"
#include "base/status.hpp"

namespace thalweg {

// Closes and forgets errors; where they matter close_file() comes first.
void close_descriptor(int fd);

// An open file of the operating system, closed when it goes out of scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  void reset() {
    if (is_open()) close_descriptor(release());
  }

  int fd_ = -1;
};

enum class FileAccess { read, write, read_write };
// truncate: creates the file, or empties it when it exists; keep: leaves it as it is then; empty: it must exist.
enum class FileCreation { never, truncate, keep, exclusive, empty };
struct FileOpening {
  FileAccess access = FileAccess::read;
  FileCreation creation = FileCreation::never;
  std::uint32_t permissions = 0666;  // of a new file, before the umask
  bool direct = false;               // past the page cache
};

// Where the process has as many files open as it may, its soft limit (ulimit -n) is raised to the hard one first.
Result<FileDescriptor> open_file(const std::string& path, const FileOpening& how);
// A new file in `folder` that has no name and is gone when it is closed, for writing. Not all file systems have them.
Result<FileDescriptor> open_unnamed_file(const std::string& folder);
// The errors of close() that tell of lost writes. The descriptor is closed in any case.
Status close_file(FileDescriptor file, const std::string& path);

// All of the parts, one behind the other, or a failure after some of them.
Status write_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset,
                std::span<const ByteView> parts);
// Reads until `data` is full or the file ends; the number of bytes read.
Result<std::size_t> read_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset, ByteSpan data);
// Both, for parts that lie anywhere; the bytes moved, fewer than asked for only where a read meets the end of the file.
struct TransferPlace {
  const std::string& path;
  bool writes;
  std::uint64_t offset;
  std::uint32_t alignment = 1;  // of offset, lengths and memory; more than 1 where the file was opened as direct
};
Result<std::uint64_t> transfer_at(const FileDescriptor& file, const TransferPlace& place, std::span<const iovec> parts);

Result<std::uint64_t> file_size(const FileDescriptor& file, const std::string& path);
Status truncate_file(const FileDescriptor& file, const std::string& path, std::uint64_t bytes);
// Reserves storage; the file grows to offset + bytes. Where the file system cannot, nothing happens.
Status preallocate_file(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::uint64_t bytes);
Status sync_file(const FileDescriptor& file, const std::string& path);
// Locks of the open file description (fcntl(2), F_OFD_SETLK) on two bytes that lie behind any data, by which those who
// write a multifile or vpfile keep others away (docs/format/multifile.md, section 8). They end when the last descriptor
// of this opening is closed; the same process may have others.
//   session  who creates, appends or repairs: one at a time
//   writers  every process that writes
enum class FileLock { session, writers };
enum class LockKind { shared, exclusive };
// False when another opening holds what is in the way. True also where the file system has no such locks. A descriptor
// that may only read takes a shared lock instead of an exclusive one, and is refused where one of either kind is held.
bool lock_file(const FileDescriptor& file, FileLock which, LockKind kind);
void unlock_file(const FileDescriptor& file);  // both
// False when `path` leads to another file, or to none.
Result<bool> is_named(const FileDescriptor& file, const std::string& path);
// First offset >= `offset` that may hold data; the size of the file when only a hole follows.
Result<std::uint64_t> next_data_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset);

Status remove_file(const std::string& path);
Result<bool> file_exists(const std::string& path);
// The folder that holds `path`; "." when the path names none.
std::string folder_of(const std::string& path);
Status sync_folder(const std::string& folder);

// The calls that move or keep bytes, as a table so that a test can put others in their place, while no other thread
// uses them.
struct TransferCalls {
  ssize_t (*read)(int, void*, std::size_t, off_t);
  ssize_t (*read_parts)(int, const iovec*, int, off_t);
  ssize_t (*write)(int, const void*, std::size_t, off_t);
  ssize_t (*write_parts)(int, const iovec*, int, off_t);
  int (*sync)(int);
};
TransferCalls& transfer_calls();

}  // namespace thalweg
