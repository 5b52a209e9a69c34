// BasicGroup: every collective from four: barrier, broadcast, gather and scatter.
//
// For kinds of group that can do no better. Where a result depends on what one task found out (its memory, its
// arguments), it travels with the data, so that a failure is the same on all tasks.
#pragma once

#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

class TW_SHARED BasicGroup : public Group {
 public:
  // gather to task 0, broadcast of what it got.
  Op<Result<Gathered>> allgather(ByteView data) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  // By task 0.
  Op<Status> fold(void* mine, void* before, Folding how) override;
  // Sorted by task 0: all data passes through it. Fine for few bytes, else a kind brings its own.
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  // The leader of each process shows an address, which means something in its process only.
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
};

}  // namespace thalweg
