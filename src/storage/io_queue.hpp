// IoQueue: transfers are submitted and complete later. One text of the engine serves all kinds: the posix queue runs
// a transfer at submission, the uring queue passes it to the kernel and sees completions in poll(), the thread queue
// passes it to a thread of its own.
//
// The queue continues short transfers, retries EINTR and EAGAIN, and splits lengths above the limit of the kernel.
// Threads: one at a time per queue; queues of different threads are independent.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "access/extent.hpp"
#include "storage/backend.hpp"

namespace thalweg {

class IoQueue;

// One run of a file and its pieces of memory. The caller fills it in and keeps it, and all it points to, in place
// until `done`.
struct IoTransfer {
  StoredFile* file = nullptr;
  IoQueue* queue = nullptr;  // for the code that waits for it; queues do not look at it
  Direction direction = Direction::read;
  bool direct = false;  // past the page cache: offset, lengths and memory are multiples of file->direct_alignment()
  std::uint64_t offset = 0;
  std::span<const Piece> pieces = {};  // at most IOV_MAX
  // In place of a transfer: work that may take long. A thread queue gives it to its thread; others do it at submission.
  std::function<Status()> work = {};

  // The result.
  bool done = false;
  Status status = {};
  std::uint64_t moved = 0;  // fewer than asked for only at the end of the file, or on failure
};

class IoQueue {
 public:
  virtual ~IoQueue() = default;  // waits for transfers in flight
  // Takes the transfer over; false: the queue is full, call poll() first.
  virtual bool submit(IoTransfer& transfer) = 0;
  // Marks completed transfers as done, without waiting, and hands gathered requests to the kernel.
  virtual void poll() = 0;
  // Waits until a transfer completes, for at most `limit`; returns at once when none is in flight.
  virtual void wait(std::chrono::microseconds limit) = 0;
  virtual std::size_t in_flight() const = 0;
  virtual const char* name() const = 0;  // "posix", "uring", "thread"
};

// At most `depth` transfers in flight, at least 1. The thread is started on first use; where that fails, transfers
// run at submission.
std::unique_ptr<IoQueue> make_thread_queue(unsigned depth);

// Whether this library was built with io_uring and the kernel permits it to this process; probed once.
bool uring_available();
// At most `depth` transfers in flight. Fails with not_built where uring_available() is false.
Result<std::unique_ptr<IoQueue>> make_uring_queue(unsigned depth);

}  // namespace thalweg
