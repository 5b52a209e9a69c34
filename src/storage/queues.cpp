#include "storage/queues.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace thalweg {

namespace {

// A queue for transfers in the background.
std::unique_ptr<IoQueue> make_background_queue() {
  auto ring = make_uring_queue(kRingDepth);
  return ring.has_value() ? std::move(ring).value() : make_thread_queue(kRingDepth);
}

struct ThreadQueues {
  std::unique_ptr<IoQueue> posix = make_posix_queue();
  std::unique_ptr<IoQueue> background;  // made on first use

  IoQueue* for_background() {
    if (background == nullptr) background = make_background_queue();
    return background.get();
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

IoQueue* blocking_background_queue() { return thread_queues().for_background(); }

SharedQueues::SharedQueues() : posix_(make_posix_queue()), background_(make_background_queue()) {}

IoContext SharedQueues::context(bool by_thread) {
  IoContext io;
  io.queue = background_.get();
  io.background_queue = background_.get();
  io.depth = kRingDepth;
  io.unattended = true;
  if (by_thread) io.copy_queue = &copies_;
  return io;
}

IoContext SharedQueues::context_of_waiter() {
  IoContext io;
  io.queue = posix_.get();
  io.background_queue = background_.get();
  return io;
}

void SharedQueues::wait(std::chrono::microseconds limit) { background_->wait(limit); }

}  // namespace thalweg
