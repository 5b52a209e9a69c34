// CallCheck: with THALWEG_CHECK=1, all ranks of a group compare their calls and handles before each collective call
// on the group, on its copies and on the files opened with them. Where they differ, this call and every later one
// fails on all ranks, which would otherwise wait for each other for ever. It costs a fold for each call, so it is for
// finding defects.
#pragma once

#include <cstdint>
#include <memory>

#include "base/call.hpp"
#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

// Whether the environment of this process enables the check.
TW_SHARED bool asks_for_call_check();

class CallCheck {
 public:
  // `meeting`: a group of all ranks for the comparison only.
  explicit CallCheck(std::unique_ptr<Group> meeting) : meeting_(std::move(meeting)) {}

  // A number for a new handle. Collective calls make handles, so a handle has one number on all ranks.
  std::int64_t next_handle() { return ++handles_; }
  // Collective over all ranks: OK where all make one call on one handle.
  TW_SHARED Op<Status> compare(Call call, std::int64_t handle);
  // Independent: not OK once calls have differed; every collective of these handles then fails at once.
  const Status& over() const { return over_; }
  // Independent: this rank abandons a file of the group. Calls are no longer compared, on all ranks.
  void leave(Leaver leaver) noexcept {
    meeting_->leave(leaver);
    ended_ = true;
  }

 private:
  const std::unique_ptr<Group> meeting_;
  std::int64_t handles_ = 0;
  bool ended_ = false;  // a rank has abandoned a file
  Status over_;         // how calls differed; from then on the ranks may be at different calls
};

}  // namespace thalweg
