// CallCheck: with THALWEG_CHECK=1, all ranks of a group meet before each collective call on the group, on a copy of it or
// on what is open with one, and compare the calls and the handles on which they make them. Different ones fail on all ranks,
// which would wait for each other for ever, and so does every later call. It costs a fold for each call, so it is for finding defects.
#pragma once

#include <cstdint>
#include <memory>

#include "base/call.hpp"
#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

// Whether the environment of this process asks for it.
TW_SHARED bool asks_for_call_check();

class CallCheck {
 public:
  // `meeting`: a group of all ranks that nothing else uses.
  explicit CallCheck(std::unique_ptr<Group> meeting) : meeting_(std::move(meeting)) {}

  // A number for a new handle. Handles are made by collective calls, so that a handle has one number on all ranks.
  std::int64_t next_handle() { return ++handles_; }
  // Collective over all ranks: OK where all make the same call on the same handle.
  TW_SHARED Op<Status> compare(Call call, std::int64_t handle);
  // Independent: not OK once calls have differed. Then every collective of these handles fails at once.
  const Status& over() const { return over_; }
  // Independent: this rank abandons what is open on the group. Calls are compared no longer, on all ranks.
  void leave(Leaver leaver) noexcept {
    meeting_->leave(leaver);
    ended_ = true;
  }

 private:
  const std::unique_ptr<Group> meeting_;
  std::int64_t handles_ = 0;
  bool ended_ = false;  // a rank has abandoned a file
  Status over_;         // how calls differed; no rank knows how many calls the others are ahead then
};

}  // namespace thalweg
