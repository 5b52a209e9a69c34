// RationedQueue: carries transfers out while they are submitted, but only so many bytes; then it is full until it gets
// its next ration. For a thread that advances several operations, none of which may keep it for long.
#pragma once

#include <algorithm>

#include "storage/carry_out.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

class RationedQueue final : public IoQueue {
 public:
  void give(std::uint64_t bytes) { left_ = bytes; }

  // The last one of a ration may be longer than what is left of it.
  bool submit(IoTransfer& transfer) override {
    if (left_ == 0) return false;
    std::uint64_t bytes = 0;
    for (const Piece& piece : transfer.pieces) bytes += piece.bytes;
    left_ -= std::min(left_, std::max<std::uint64_t>(bytes, 1));
    carry_out(transfer);
    return true;
  }
  void poll() override {}
  void wait(std::chrono::microseconds) override {}
  std::size_t in_flight() const override { return 0; }
  const char* name() const override { return "posix"; }

 private:
  std::uint64_t left_ = 0;
};

}  // namespace thalweg
