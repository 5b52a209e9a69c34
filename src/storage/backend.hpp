// Backend: where bytes go. A backend does not know tasks, groups or formats.
//
// Kinds: posix (files of the file system), memory (for tests and simulation), fault (wraps another one and injects
// errors, short transfers and crash points). Calls block. Short transfers are continued and EINTR is retried inside.
// Threads: a Backend and a StoredFile may be used by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

// create truncates, create_keep leaves what is there; all creations may read too.
enum class OpenMode { read, read_write, create, create_keep, create_exclusive };

// How a file is opened, as open(2) has it.
struct OpenOptions {
  bool read = true;
  bool write = false;
  bool create = false;
  bool exclusive = false;  // with create: fails when it exists
  bool truncate = false;
  std::uint32_t permissions = 0666;  // of a new file, before the umask
  bool takes_lock = false;  // lock_session() or join_writers() follows; children of the process get no descriptor
};
OpenOptions options_of(OpenMode mode);

// What no backend can do: invalid_argument.
Status check_options(const std::string& path, const OpenOptions& options);

class StoredFile {
 public:
  virtual ~StoredFile() = default;
  // Writes all of `data` or fails. Lengths beyond what one system call takes are split.
  virtual Status write(std::uint64_t offset, std::span<const std::byte> data) = 0;
  // Writes the parts one behind the other, in as few system calls as possible.
  virtual Status write_parts(std::uint64_t offset, std::span<const std::span<const std::byte>> parts) = 0;
  // Moves the pieces, one behind the other in the file, in as few system calls as possible; the bytes moved, which are
  // fewer than asked for only where a read meets the end of the file.
  virtual Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) = 0;
  // The same past the page cache; offset, lengths and memory are multiples of direct_alignment(). A read that meets the
  // end of the file may fill the rest of that block of memory with anything.
  virtual Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                                std::span<const Piece> pieces) = 0;
  // What direct transfers of this file must be aligned to; 0: it has none.
  virtual std::uint32_t direct_alignment() { return 0; }
  // For queues that talk to the kernel themselves: the descriptor that stays open with the file, or -1: use transfer().
  virtual int descriptor(bool /*direct*/) { return -1; }
  // Reads until `data` is full or the file ends; the number of bytes read.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> data) = 0;
  virtual Result<std::uint64_t> size() = 0;
  virtual Status truncate(std::uint64_t bytes) = 0;
  virtual Status preallocate(std::uint64_t offset, std::uint64_t bytes) = 0;
  // Data and what is needed to find them reach the storage. A failed sync stays failed: never retried.
  virtual Status sync() = 0;
  // First offset >= `offset` that may hold data; size() when there is only a hole behind.
  virtual Result<std::uint64_t> next_data(std::uint64_t offset) = 0;
  // Until the file is closed or the process dies, and not in its children: keeps all others away that ask for this;
  // they may join as writers. unsafe when one has it, or when a process still writes that joined one before. Where the
  // storage knows no locks it is granted.
  virtual Status lock_session() { return {}; }  // opened with takes_lock, as is one that joins
  // Until then: another process of who holds the session writes, too.
  virtual Status join_writers() { return {}; }
  // False: the file was removed, or its name leads to another one now.
  virtual Result<bool> has_its_name() { return true; }
  virtual Status close() = 0;  // once; the destructor closes too but cannot report
  virtual const std::string& path() const = 0;
};

struct StorageInfo {
  std::uint32_t block_bytes = 4096;  // preferred I/O block of the file system, power of two
  std::string kind = "unknown";      // "ext4", "xfs", "tmpfs", "lustre", ...
  std::string identity;              // the same for all files of one file system, and for no other; "": not known
  std::uint64_t largest_file_bytes = (1ull << 63) - 1;
  std::uint64_t free_bytes = (1ull << 63) - 1;  // on the file system, when it was asked; the default: unknown
};

// Nanoseconds of a small write, and of each byte more.
struct MeasuredWrites {
  double call_ns;
  double byte_ns;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) = 0;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, OpenMode mode) {
    return open(path, options_of(mode));
  }
  virtual Status remove(const std::string& path) = 0;  // not_found when it does not exist
  virtual Result<bool> exists(const std::string& path) = 0;
  virtual Status sync_directory_of(const std::string& path) = 0;
  virtual Result<StorageInfo> describe(const std::string& path) = 0;  // of the file system that holds or will hold path
  // Of the file system of an open file of this backend.
  virtual Result<StorageInfo> describe_open(StoredFile& file) { return describe(file.path()); }
  // What direct transfers of a file that is or could be at `path` must be aligned to; 0: there are none, or nobody
  // knows. An open file knows it better.
  virtual std::uint32_t direct_alignment_at(const std::string& /*path*/) { return 0; }
  // What writing takes where `path` lies, tried out now; none: that cannot be tried.
  virtual std::optional<MeasuredWrites> measure_writes(const std::string& /*path*/) { return std::nullopt; }
  virtual const char* name() const = 0;
};

// The POSIX backend; one object for the whole process.
std::shared_ptr<Backend> posix_backend();

}  // namespace thalweg
