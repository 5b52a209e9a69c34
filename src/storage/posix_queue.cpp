// A queue without transfers in flight: each one runs at submission.
#include "storage/carry_out.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

void carry_out(IoTransfer& transfer) {
  StoredFile& file = *transfer.file;
  const auto moved = or_out_of_memory([&] {
    return transfer.direct ? file.transfer_direct(transfer.direction, transfer.offset, transfer.pieces)
                           : file.transfer(transfer.direction, transfer.offset, transfer.pieces);
  });
  transfer.status = moved.status();
  transfer.moved = moved.has_value() ? moved.value() : 0;
  transfer.done = true;
}

namespace {

class PosixQueue final : public IoQueue {
 public:
  bool submit(IoTransfer& transfer) override {
    carry_out(transfer);
    return true;
  }
  void poll() override {}
  void wait(std::chrono::microseconds) override {}
  std::size_t in_flight() const override { return 0; }
  const char* name() const override { return "posix"; }
};

}  // namespace

std::unique_ptr<IoQueue> make_posix_queue() { return std::make_unique<PosixQueue>(); }

}  // namespace thalweg
