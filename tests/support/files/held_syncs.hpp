// HeldSyncs: while it lives, no sync in the background goes on, since the thread that carries them out is occupied.
#pragma once

#include <future>
#include <memory>

#include "async/request.hpp"
#include "engine/transfer/transfer.hpp"

namespace thalweg::test {

class HeldSyncs {
 public:
  HeldSyncs() { start(occupant_, ProgressMode::thread); }
  ~HeldSyncs() {
    occupant_->end.set_value();
    wait_for(*occupant_);
  }
  HeldSyncs(const HeldSyncs&) = delete;
  HeldSyncs& operator=(const HeldSyncs&) = delete;

 private:
  struct Occupant final : RequestFor<Status> {
    std::promise<void> end;
    Op<Status> operation(IoContext io) override {
      return carry_out(
          [this] {
            end.get_future().wait();
            return Status{};
          },
          *io.work_queue);
    }
  };

  const std::shared_ptr<Occupant> occupant_ = std::make_shared<Occupant>();
};

}  // namespace thalweg::test
