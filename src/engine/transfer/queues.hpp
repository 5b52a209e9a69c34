// Which queue carries a transfer: a thread that blocks has its own, the operations that go on by themselves share
// theirs.
#pragma once

#include <chrono>
#include <memory>

#include "engine/transfer/io_context.hpp"
#include "storage/rationed_queue.hpp"

namespace thalweg {

inline constexpr unsigned kRingDepth = 64;

// Of the calling thread. The queue for what goes on by itself is made when it is first asked for.
IoContext blocking_io();
IoQueue* blocking_background_queue();

// What Progress works with: io_uring where it is there, else a thread, so that no operation holds up another one.
class SharedQueues {
 public:
  SharedQueues();
  // by_thread: of an operation that the progress thread advances.
  IoContext context(bool by_thread);
  // For a thread that has nothing else to do.
  IoContext context_of_waiter();
  bool in_kernel() const;
  std::size_t in_flight() const { return background_->in_flight(); }
  void wait(std::chrono::microseconds limit);
  // Before each step of who advances: how much it may copy itself.
  void begin_step() { copies_.give(kCopiedByStep); }

 private:
  static constexpr std::uint64_t kCopiedByStep = std::uint64_t{1} << 22;  // about a millisecond
  std::unique_ptr<IoQueue> posix_;
  std::unique_ptr<IoQueue> background_;
  RationedQueue copies_;
};

}  // namespace thalweg
