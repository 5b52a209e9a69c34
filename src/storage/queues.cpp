#include "storage/queues.hpp"

#include <utility>

namespace thalweg {

std::unique_ptr<IoQueue> make_background_queue(unsigned depth) {
  auto ring = make_uring_queue(depth);
  return ring.has_value() ? std::move(ring).value() : make_thread_queue(depth);
}

void carry_out(IoTransfer& transfer) {
  if (transfer.work) return static_cast<void>(transfer.status = or_out_of_memory(transfer.work));
  StoredFile& file = *transfer.file;
  const auto moved = or_out_of_memory([&] {
    return transfer.direct ? file.transfer_direct(transfer.direction, transfer.offset, transfer.pieces)
                           : file.transfer(transfer.direction, transfer.offset, transfer.pieces);
  });
  transfer.status = moved.status();
  transfer.moved = moved.has_value() ? moved.value() : 0;
}

IoContext blocking_io() {
  thread_local PosixQueue queue;
  return {.queue = &queue};
}

IoQueue* blocking_background_queue() {
  thread_local const std::unique_ptr<IoQueue> queue = make_background_queue(kRingDepth);
  return queue.get();
}

SharedQueues::SharedQueues() : background_(make_background_queue(kRingDepth)), works_(make_thread_queue(kRingDepth)) {
  begin_step();
}

IoContext SharedQueues::context(bool by_thread) {
  return {.queue = background_.get(),
          .copy_queue = by_thread ? &copies_ : nullptr,
          .background_queue = background_.get(),
          .work_queue = works_.get(),
          .depth = kRingDepth,
          .unattended = true};
}

IoContext SharedQueues::context_of_waiter() {
  return {.queue = &posix_, .background_queue = background_.get(), .work_queue = works_.get()};
}

}  // namespace thalweg
