// Backend: the files behind the library. A backend depends on no tasks, groups or formats.
//
// Kinds: posix (files of the file system), memory (for tests and simulation), fault (wraps another backend and
// injects errors, short transfers and crash points). Calls block. They continue short transfers and retry EINTR.
// Threads: a Backend and a StoredFile may be used by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/piece.hpp"
#include "base/status.hpp"
#include "os/file_ops.hpp"
#include "os/filesystem_info.hpp"

namespace thalweg {

// create truncates, create_keep keeps the content; all creations may read too.
enum class OpenMode { read, read_write, create, create_keep, create_exclusive };

OpenOptions options_of(OpenMode mode);

// Fails with invalid_argument for combinations that no backend supports.
Status check_options(const std::string& path, const OpenOptions& options);

class StoredFile {
 public:
  virtual ~StoredFile() = default;
  // Writes all of `data` or fails. Lengths above the limit of one system call are split.
  Status write(std::uint64_t offset, std::span<const std::byte> data) {
    const Piece piece = piece_of(data);
    return transfer(Direction::write, offset, {&piece, 1}).status();
  }
  // Reads until `data` is full or the file ends; returns the number of bytes read.
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> data) {
    const Piece piece{data.data(), data.size()};
    return transfer(Direction::read, offset, {&piece, 1});
  }
  // Moves the pieces, one behind the other in the file, in as few system calls as possible. Returns the bytes moved,
  // fewer than asked for only where a read meets the end of the file.
  virtual Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) = 0;
  // transfer() past the page cache; offset, lengths and memory are multiples of direct_alignment(). A read that meets
  // the end of the file may overwrite the rest of that block of memory.
  virtual Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                                std::span<const Piece> pieces) = 0;
  // The alignment of direct transfers of this file; 0: it supports none.
  virtual std::uint32_t direct_alignment() = 0;
  // For queues that call the kernel themselves: the descriptor, which stays open as long as the file; -1: use
  // transfer().
  virtual int descriptor(bool /*direct*/) { return -1; }
  // A read that leaves the read-ahead of other reads alone.
  virtual Result<std::size_t> read_aside(std::uint64_t offset, std::span<std::byte> data) { return read(offset, data); }
  virtual Result<std::uint64_t> size() = 0;
  virtual Status truncate(std::uint64_t bytes) = 0;
  virtual Status preallocate(std::uint64_t offset, std::uint64_t bytes) = 0;
  // Gives reserved storage back, which becomes a hole; may do nothing. The size of the file stays.
  virtual Status release(std::uint64_t offset, std::uint64_t bytes) = 0;
  // Makes data, and the metadata to find them, durable. A failed sync is never retried: every later one fails.
  virtual Status sync() = 0;
  // Where nodes do not see at once what others wrote: the next accesses see what was synced before this call.
  virtual Status forget_cached() = 0;
  // First offset >= `offset` that may hold data; size() when only a hole follows.
  virtual Result<std::uint64_t> next_data(std::uint64_t offset) = 0;
  // Locks the session until the file is closed or the process dies; children do not inherit the lock. Other sessions
  // are excluded; writers may join. Fails with unsafe when another session is locked, or a writer that joined an
  // earlier one still writes. Granted where the storage has no locks.
  virtual Status lock_session() = 0;  // the file, and that of a joining writer, was opened with takes_lock
  // Whether locks of this file are known to exclude the programs of all nodes; also false once lock_session() has met
  // a storage without locks.
  virtual bool locks_reach_all() const = 0;
  // What a look at the file tells, in words: another one after a program has written to it.
  virtual Result<std::string> look() = 0;
  // Marks this process as a further writer of the session that another process has locked, until the file is closed.
  virtual Status join_writers() = 0;
  // False: the file was removed, or its name belongs to another file now.
  virtual Result<bool> has_its_name() = 0;
  virtual Status close() = 0;  // once; the destructor closes too but cannot report a failure
  virtual const std::string& path() const = 0;
};

// Nanoseconds for a small write, and for each further byte.
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
  virtual Result<StorageInfo> describe(const std::string& path) = 0;  // the file system that holds or will hold path
  // The file system of an open file of this backend.
  virtual Result<StorageInfo> describe_open(StoredFile& file) { return describe(file.path()); }
  // The alignment of direct transfers for a file at `path`, existing or not; 0: none, or unknown.
  // StoredFile::direct_alignment() is more exact.
  virtual std::uint32_t direct_alignment_at(const std::string& /*path*/) { return 0; }
  // Measures writes at `path` now; none where that is not possible.
  virtual std::optional<MeasuredWrites> measure_writes(const std::string& /*path*/) { return std::nullopt; }
  virtual const char* name() const = 0;
};

// The POSIX backend; one object for the whole process.
std::shared_ptr<Backend> posix_backend();

}  // namespace thalweg
