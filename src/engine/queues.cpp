#include "engine/queues.hpp"

#include <chrono>
#include <memory>
#include <new>

namespace thalweg {

namespace {

struct ThreadQueues {
  std::unique_ptr<IoQueue> posix = make_posix_queue();
  std::unique_ptr<IoQueue> ring;  // made when first needed; null: no io_uring
  bool tried = false;

  IoQueue* direct() {
    if (!tried) {
      tried = true;
      try {
        if (auto made = make_uring_queue(kRingDepth); made.has_value()) ring = std::move(made).value();
      } catch (const std::bad_alloc&) {
        tried = false;  // without a ring this time
      }
    }
    return ring != nullptr ? ring.get() : posix.get();
  }
};

ThreadQueues& thread_queues() {
  thread_local ThreadQueues queues;
  return queues;
}

}  // namespace

IoContext blocking_io() {
  IoContext io;
  io.queue = thread_queues().posix.get();
  return io;
}

IoQueue* blocking_direct_queue() { return thread_queues().direct(); }

SharedQueues::SharedQueues() : posix_(make_posix_queue()) {
  if (auto made = make_uring_queue(kRingDepth); made.has_value()) ring_ = std::move(made).value();
}

IoContext SharedQueues::context(bool by_thread) {
  IoContext io;
  io.queue = ring_ != nullptr ? ring_.get() : posix_.get();
  io.direct_queue = io.queue;
  io.depth = ring_ != nullptr ? kRingDepth : 1;
  io.unattended = ring_ != nullptr;
  if (by_thread && ring_ != nullptr) io.copy_queue = &copies_;
  return io;
}

IoContext SharedQueues::context_of_waiter() {
  IoContext io;
  io.queue = posix_.get();
  io.direct_queue = ring_ != nullptr ? ring_.get() : posix_.get();
  return io;
}

void SharedQueues::wait(std::chrono::microseconds limit) {
  if (ring_ != nullptr) ring_->wait(limit);
}

}  // namespace thalweg
