// RationedQueue: runs transfers at submission up to a limit of bytes; then it is full until the next ration. For a
// thread that advances several operations, none of which may occupy it for long.
#pragma once

#include <algorithm>

#include "storage/carry_out.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

class RationedQueue final : public IoQueue {
 public:
  void give(std::uint64_t bytes) { left_ = bytes; }

  // The last transfer of a ration may exceed it.
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
