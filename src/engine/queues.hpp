// Which queue carries a transfer: a thread that blocks has its own, the operations that go on by themselves share
// theirs.
#pragma once

#include <chrono>
#include <memory>

#include "engine/collective.hpp"

namespace thalweg {

inline constexpr unsigned kRingDepth = 64;

// Of the calling thread. The queue for direct transfers is made when the first one asks for it.
IoContext blocking_io();
IoQueue* blocking_direct_queue();

// What Progress works with: io_uring where it is there, so that no operation holds up another one.
class SharedQueues {
 public:
  SharedQueues();
  IoContext context();
  // For a thread that has nothing else to do.
  IoContext context_of_waiter();
  bool in_kernel() const { return ring_ != nullptr; }
  std::size_t in_flight() const { return ring_ != nullptr ? ring_->in_flight() : 0; }
  void wait(std::chrono::microseconds limit);

 private:
  std::unique_ptr<IoQueue> posix_;
  std::unique_ptr<IoQueue> ring_;  // null: no io_uring
};

}  // namespace thalweg
