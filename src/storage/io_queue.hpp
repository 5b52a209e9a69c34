// IoQueue: transfers handed over and completed later. One text of the engine serves all kinds: the posix queue carries
// a transfer out while it is submitted, the uring queue gives it to the kernel and hears of it in poll(), the thread
// queue to a thread of its own.
//
// Short transfers are continued, EINTR and EAGAIN retried, lengths beyond what the kernel takes split, in the queue.
// Threads: one at a time per queue; queues of different threads are independent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "access/extent.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// One run of a file and the memory that makes it up. The caller fills it in and keeps it, and what it points to, where
// it is until `done`.
struct IoTransfer {
  StoredFile* file = nullptr;
  Direction direction = Direction::read;
  bool direct = false;  // past the page cache: offset, lengths and memory are multiples of file->direct_alignment()
  std::uint64_t offset = 0;
  std::span<const Piece> pieces;  // at most IOV_MAX

  // The answer.
  bool done = false;
  Status status;
  std::uint64_t moved = 0;  // fewer than asked for only at the end of the file, or on failure

  // The queue's own while it works.
  void* in_flight = nullptr;
};

class IoQueue {
 public:
  virtual ~IoQueue() = default;  // waits for what is in flight
  // Takes the transfer over, or says false: the queue is full, poll() first.
  virtual bool submit(IoTransfer& transfer) = 0;
  // Marks what has completed as done, without waiting. Makes sure that the kernel has seen what was submitted.
  virtual void poll() = 0;
  // Waits until something has completed, for at most `limit`; nothing in flight: returns at once.
  virtual void wait(std::chrono::microseconds limit) = 0;
  virtual std::size_t in_flight() const = 0;
  virtual const char* name() const = 0;  // "posix", "uring", "thread"
};

std::unique_ptr<IoQueue> make_posix_queue();
// `depth`, at least 1, transfers in flight at most. Its thread is made when it is first needed; where none can be had,
// transfers are carried out at submission.
std::unique_ptr<IoQueue> make_thread_queue(unsigned depth);

// Whether this library was built with io_uring and this kernel lets this process use it; probed once.
bool uring_available();
// `depth` transfers in flight at most. Fails with not_built where uring_available() is false.
Result<std::unique_ptr<IoQueue>> make_uring_queue(unsigned depth);

}  // namespace thalweg
