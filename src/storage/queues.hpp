// Selects the queue of a transfer: a blocking thread has its own queues, and operations in the background share
// theirs.
#pragma once

#include <chrono>
#include <memory>

#include "storage/io_context.hpp"
#include "storage/posix_queue.hpp"

namespace thalweg {

inline constexpr unsigned kRingDepth = 64;

// The queues of the calling thread. The background queue is made on first use.
IoContext blocking_io();
IoQueue* blocking_background_queue();
// io_uring where the kernel permits it, else a thread.
std::unique_ptr<IoQueue> make_background_queue(unsigned depth);

// The queues of Progress: io_uring where the kernel permits it, else a thread, so that no operation delays another
// one.
class SharedQueues {
 public:
  SharedQueues();
  // by_thread: the progress thread advances the operation.
  IoContext context(bool by_thread);
  // For a thread that only waits.
  IoContext context_of_waiter();
  // The number of transfers, without work: a thread that waits for a transfer must not wait for a sync.
  std::size_t in_flight() const { return background_->in_flight(); }
  void wait(std::chrono::microseconds limit) { background_->wait(limit); }
  // Called before operations are advanced: limits the bytes that this step may copy itself.
  void begin_step() { copies_.give_ration(kCopiedByStep); }

 private:
  static constexpr std::uint64_t kCopiedByStep = std::uint64_t{1} << 22;  // about a millisecond
  PosixQueue posix_;
  std::unique_ptr<IoQueue> background_;
  std::unique_ptr<IoQueue> works_;
  PosixQueue copies_;
};

}  // namespace thalweg
