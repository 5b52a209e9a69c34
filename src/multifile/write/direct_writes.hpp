// Writes of one task past the page cache. Data are copied into aligned buffers, which go to the storage through a queue
// while the task goes on; a call waits only where all buffers are in flight.
//
// How a flush holds:
//  1. Data are handed over block by block. The bytes in front of the first whole block of a run, and those behind the
//     last one, go through the page cache.
//  2. What may be written only after the data (the table and the slot of a chunk) is kept by write_behind().
//  3. finish() waits for the data, then writes what was kept, in its order. After a failure nothing more is written, so
//     no slot counts bytes that did not arrive.
// tw_multifile_iflush and tw_multifile_isync hand the object to their request; the task continues with a new one that has
// it as `before`. finish() of the new one first finishes `before`, and returns its failure. So there are two at most.
//
// Threads: one at a time; once it was handed over, any number may call end().
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "multifile/write/byte_buffer.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

// The buffers begin on a page.
constexpr bool fits_buffers(std::uint32_t direct_alignment) {
  return direct_alignment > 0 && direct_alignment <= ByteBuffer::kAlignment;
}

struct DirectSettings {              // no gaps: it is sent as it is
  std::uint64_t transfer_bytes = 0;  // of one transfer; 0: all writes go through the page cache
  std::uint32_t depth = 0;           // transfers in flight
  std::uint32_t asked_for = 0;       // by a hint, also where the file system has no direct I/O
};

class DirectWrites {
 public:
  // `queue`: null: one that goes on in the background, made when it is needed.
  explicit DirectWrites(const DirectSettings& settings, std::shared_ptr<DirectWrites> before = nullptr,
                        std::unique_ptr<IoQueue> queue = nullptr)
      : settings_(settings), before_(std::move(before)), queue_(std::move(queue)) {}

  const DirectSettings& settings() const { return settings_; }
  // The file has direct I/O, and stays open until finish() has returned. A failure may be that of an earlier write; then
  // every later call fails.
  Status write(StoredFile& file, std::uint64_t offset, std::span<const std::byte> data);
  void write_behind(StoredFile& file, std::uint64_t offset, std::span<const std::byte> bytes);
  const Status& failure() const { return failure_; }  // of an earlier write; then every later call fails
  Status finish() { return finish(false); }
  // Also frees memory and queue: nothing more is written.
  Status end() { return finish(true); }
  // Some are on their way, or have failed.
  bool has_writes() const { return !failure_.ok() || before_ || filling_ || !kept_.empty() || in_flight(); }
  // Hands the last buffer to the queue, before another thread calls end(). Waits for the object before this one.
  Status hand_over();

 private:
  struct Buffer {
    ByteBuffer memory;
    Piece piece;
    IoTransfer transfer;
    bool in_flight = false;
  };
  struct Kept {
    StoredFile* file;
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };

  std::uint64_t block() const;
  bool in_flight() const;
  Status submit();
  Status finish(bool ends);
  Status finish_before();
  Status take_buffer();
  void start_transfer(std::uint64_t bytes);
  void wait_for_one();
  void reap();
  Status finish_all();
  Status keep_failure(const Status& status) { return failure_ = failure_.or_else(status); }

  const DirectSettings settings_;
  std::shared_ptr<DirectWrites> before_;
  StoredFile* file_ = nullptr;
  std::uint64_t next_ = 0;  // offset behind the bytes taken so far
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Buffer* filling_ = nullptr;
  std::vector<Kept> kept_;
  std::uint64_t kept_bytes_ = 0;
  Status failure_;
  std::mutex mutex_;                // held by finish()
  std::unique_ptr<IoQueue> queue_;  // destroyed first: waits for transfers in flight
};

}  // namespace thalweg
