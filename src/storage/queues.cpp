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

std::unique_ptr<IoQueue> make_posix_queue() { return std::make_unique<PosixQueue>(); }

IoContext blocking_io() {
  thread_local PosixQueue queue;
  IoContext io;
  io.queue = &queue;
  return io;
}

IoQueue* blocking_background_queue() {
  thread_local const std::unique_ptr<IoQueue> queue = make_background_queue(kRingDepth);
  return queue.get();
}

SharedQueues::SharedQueues() : background_(make_background_queue(kRingDepth)), works_(make_thread_queue(kRingDepth)) {
  begin_step();
}

IoContext SharedQueues::context(bool by_thread) {
  IoContext io;
  io.queue = background_.get();
  io.background_queue = background_.get();
  io.work_queue = works_.get();
  io.depth = kRingDepth;
  io.unattended = true;
  if (by_thread) io.copy_queue = &copies_;
  return io;
}

IoContext SharedQueues::context_of_waiter() {
  IoContext io;
  io.queue = &posix_;
  io.background_queue = background_.get();
  io.work_queue = works_.get();
  return io;
}

}  // namespace thalweg
