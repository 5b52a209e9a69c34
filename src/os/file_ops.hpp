// Every system call on files. Calls interrupted by a signal are repeated, short transfers continued, long ones split.
// `path` is for messages.
//
// Threads: any number may use one descriptor at once; no call here depends on its position.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/piece.hpp"
#include "base/status.hpp"
#include "os/stripes.hpp"

struct flock;

namespace thalweg {

// Closes and ignores errors; where they matter, close_file() is called first.
void close_descriptor(int fd);

// An open file of the operating system, closed when it goes out of scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (is_open()) close_descriptor(fd_);
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Parameters of an open, with the meaning that open(2) gives them.
struct OpenOptions {
  bool read = true;
  bool write = false;
  bool create = false;
  bool exclusive = false;  // with create: fails when it exists
  bool truncate = false;
  std::uint32_t permissions = 0666;  // for a new file, before the umask
  StripeRequest stripes = {};        // of a new file; followed where the file system can
  bool takes_lock = false;  // lock_session() or join_writers() follows; children of the process get no descriptor
};

// When the process has reached its soft limit of open files (ulimit -n), the limit is first raised to the hard one.
Result<FileDescriptor> open_file(const std::string& path, const OpenOptions& options);
// Opens an open file a second time, even if its name belongs to another file by now. `direct`: past the page cache.
Result<FileDescriptor> open_again(const FileDescriptor& file, OpenOptions options, bool direct);
// A new nameless file in `folder`, for writing, removed by its close. Some file systems lack them.
Result<FileDescriptor> open_unnamed_file(const std::string& folder);
// Reports the errors of close() that mean lost writes. The descriptor is closed in any case.
Status close_file(FileDescriptor file, const std::string& path);

struct TransferPlace {
  const std::string& path;
  Direction direction;
  std::uint64_t offset;
  std::uint32_t alignment = 1;  // alignment of offset, lengths and memory; above 1 past the page cache
};
// Moves the pieces, one behind the other in the file. Returns the bytes moved, fewer than asked for only where a read
// meets the end of the file; on failure some of them may be moved. Fails with out_of_range above the largest offset.
Result<std::uint64_t> transfer_at(const FileDescriptor& file, TransferPlace place, std::span<const Piece> pieces);
// The failure of a transfer of `bytes` bytes: "cannot write 10 bytes at offset 4096 of 'path': No space left on device"
Status transfer_error(int err, const TransferPlace& place, std::uint64_t bytes);

Result<std::uint64_t> file_size(const FileDescriptor& file, const std::string& path);
// "100 bytes, changed at 1234.000000567": its size, and when its content was changed by the clock of its server.
Result<std::string> look_at(const FileDescriptor& file, const std::string& path);
Status truncate_file(const FileDescriptor& file, const std::string& path, std::uint64_t bytes);
// Reserves storage; the file grows to offset + bytes. Does nothing where the file system cannot reserve.
Status preallocate_file(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::uint64_t bytes);
// Makes a hole. Does nothing where the file system has none.
Status release_storage(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::uint64_t bytes);
Status sync_file(const FileDescriptor& file, const std::string& path);
// Drops the pages of a file that the kernel of this node has cached, and asks the servers for its size, so that reads
// find what other nodes wrote. Pages that this node changed are written to the servers first.
Status forget_cached(const FileDescriptor& file, const std::string& path);
// The client daemon of GlusterFS keeps the content of files up to 64 KiB for a second. It drops that of a file which it
// changes, so a file open for writing gets its first byte reserved, as it is already. Otherwise this waits for 1.1 s.
void expire_daemon_cache(const FileDescriptor& file, bool may_write);
// Bytes of a page of the kernel's cache on this node.
std::uint32_t cache_page_bytes();
// Locks of the open file description (fcntl(2), F_OFD_SETLK) on two bytes behind any data. Writers of a multifile or
// vpfile exclude others with them (docs/format/multifile.md, section 8). They end when the last descriptor of this
// opening is closed; one process may hold several.
// session  a process that creates, appends or repairs: one at a time
// writers  every process that writes
enum class FileLock { session, writers };
// refused: another opening holds a conflicting lock; absent: the file system has no such locks
enum class LockAnswer { granted, refused, absent };
// A read-only descriptor takes a shared lock in place of an exclusive one, and is refused where any lock is held.
LockAnswer lock_file(const FileDescriptor& file, FileLock which);
LockAnswer share_lock(const FileDescriptor& file, FileLock which);
void unlock_file(const FileDescriptor& file);  // releases both locks
// Where this node caches names it may open a file that another node has removed: then no folder links to the file any
// more. Or it finds none, although its cache knows the name. File systems that count no links (0 for `path`'s folder,
// too) show no removal.
bool was_removed(const FileDescriptor& file, const std::string& path);
bool is_cached_name(const std::string& path);
// False when `path` names another file, or none.
Result<bool> is_named(const FileDescriptor& file, const std::string& path);
// First offset >= `offset` that may hold data; the size of the file when only a hole follows.
Result<std::uint64_t> next_data_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset);

// The text of a file of the kernel in /proc; "" where it cannot be read. Children of the process get no descriptor.
std::string proc_text(const char* path);

Status remove_file(const std::string& path);
Result<bool> file_exists(const std::string& path);
// The folder of `path`; "." when the path names none.
std::string folder_of(const std::string& path);
Status sync_folder(const std::string& folder);

int call_lock(int fd, int command, struct ::flock* range);  // fcntl(2)

// The system calls that transfer, sync or lock, as a table that a test can replace while no other thread uses it.
struct TransferCalls {
  ssize_t (*read)(int, void*, std::size_t, off_t);
  ssize_t (*read_parts)(int, const iovec*, int, off_t);
  ssize_t (*write)(int, const void*, std::size_t, off_t);
  ssize_t (*write_parts)(int, const iovec*, int, off_t);
  int (*sync)(int);
  int (*lock)(int, int, struct ::flock*) = call_lock;
};
TransferCalls& transfer_calls();

}  // namespace thalweg
