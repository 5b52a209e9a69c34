// A queue whose transfers complete in any order, like those of a kernel queue, but reproducibly from a seed.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/posix_queue.hpp"
#include "support/campaign/random.hpp"

namespace thalweg::test {

class LateQueue final : public IoQueue {
 public:
  LateQueue(std::uint64_t seed, std::size_t depth) : random_(seed), depth_(depth) {}

  bool submit(IoTransfer& transfer) override {
    if (waiting_.size() >= depth_) return false;
    const bool at_once = below(random_, 2) == 0;
    waiting_.push_back({&transfer, at_once});
    if (at_once) carry_out(transfer);
    transfer.done = false;  // not reported yet
    return true;
  }
  void poll() override {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (below(random_, 2) == 0) {
        ++i;
        continue;
      }
      const Waiting one = waiting_[i];
      waiting_[i] = waiting_.back();
      waiting_.pop_back();
      if (!one.carried_out) carry_out(*one.transfer);
      one.transfer->done = true;
    }
  }
  void wait(std::chrono::microseconds) override { poll(); }
  std::size_t in_flight() const override { return waiting_.size(); }
  const char* name() const override { return "late"; }

 private:
  struct Waiting {
    IoTransfer* transfer;
    bool carried_out;
  };
  Random random_;
  const std::size_t depth_;
  std::vector<Waiting> waiting_;
};

}  // namespace thalweg::test
