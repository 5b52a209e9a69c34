// PosixQueue: a queue without transfers in flight, since each one runs at submission, by calls of its file.
#pragma once

#include <algorithm>

#include "storage/io_queue.hpp"

namespace thalweg {

// Runs a transfer, and leaves it to the caller to mark it as done. An allocation failure is reported as failure of the
// transfer.
void carry_out(IoTransfer& transfer);

class PosixQueue final : public IoQueue {
 public:
  // For a thread that advances several operations, none of which may occupy it for long: after so many bytes the queue
  // is full until the next ration. The last transfer of a ration may exceed it. Without a ration it is never full.
  void give_ration(std::uint64_t bytes) { left_ = bytes; }

  bool submit(IoTransfer& transfer) override {
    if (left_ == 0) return false;
    if (left_ != kUnlimited) {
      std::uint64_t bytes = 0;
      for (const Piece& piece : transfer.pieces) bytes += piece.bytes;
      left_ -= std::min(left_, std::max<std::uint64_t>(bytes, 1));
    }
    carry_out(transfer);
    transfer.done = true;
    return true;
  }
  void poll() override {}
  void wait(std::chrono::microseconds) override {}
  std::size_t in_flight() const override { return 0; }
  const char* name() const override { return "posix"; }

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t left_ = kUnlimited;
};

}  // namespace thalweg
