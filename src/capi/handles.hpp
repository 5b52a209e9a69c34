// Defines the opaque handles of group.h, and the first steps of a call on a group.
#pragma once

#include <memory>
#include <string_view>

#include "async/last_words.hpp"
#include "capi/guard.hpp"
#include "group/group.hpp"
#include "group/team/team.hpp"

struct tw_group {
  std::shared_ptr<thalweg::Group> impl;  // never null; files opened with the group keep it
};

struct tw_team {
  std::shared_ptr<thalweg::Team> impl;  // never null
};

namespace thalweg {

// Whether the group is unusable once MPI has ended.
inline bool ends_with_mpi(const Group& group) {
  const std::string_view kind = group.kind();
  return kind == "mpi" || kind == "hybrid";
}

// Sets the collective call that this task makes on a group, or on a file opened with it, as the first step of the call,
// so that different calls of the tasks are detected.
inline Group& calling(Group& group, Call call) {
  group.set_call(call);
  call_of_thread = {call, group.size() > 1};
  if (group.checks_calls())
    if (Status differ = run(group.compare_calls(call)); !differ.ok()) group.end(std::move(differ));
  return group;
}
// Names a nonblocking call, which does not mark the group: its operations run on duplicates.
inline const Group& starting(const Group& group, Call call) {
  call_of_thread = {call, group.size() > 1};
  return group;
}

// A collective call on a group: `body(tasks)`, which returns a Status.
template <class Body>
std::int32_t on_group(tw_group* group, Call call, Body&& body) noexcept {
  return guarded([&]() -> Status {
    return group != nullptr ? body(calling(*group->impl, call)) : null_argument(name_of(call), "group");
  });
}

}  // namespace thalweg
