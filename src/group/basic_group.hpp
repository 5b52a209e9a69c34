// BasicGroup: every collective from four: barrier, broadcast, gather and scatter.
//
// For kinds of group without faster means. Where a result depends on one task (its memory, its arguments), the status
// travels with the data, so that a failure is the same on all tasks.
#pragma once

#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

class TW_SHARED BasicGroup : public Group {
 public:
  // Gathers to task 0, which broadcasts the result.
  Op<Result<Gathered>> allgather(ByteView data) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  // Task 0 computes the fold.
  Op<Status> fold(void* mine, void* before, Folding how) override;
  // Task 0 sorts the messages: all data pass through it. Suits few bytes; a kind for more overrides it.
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  // Each task sends an address, and takes that of its leader, which is valid in its process only.
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
};

}  // namespace thalweg
