// Defines the opaque handles of group.h, and the first steps of a call on a group.
#pragma once

#include <memory>
#include <string_view>

#include "async/last_words.hpp"
#include "capi/guard.hpp"
#include "group/group.hpp"
#include "group/team/team.hpp"

struct tw_group {
  std::shared_ptr<thalweg::Group> impl;  // never null; what was opened with the group keeps it
};

struct tw_team {
  std::shared_ptr<thalweg::Team> impl;  // never null
};

namespace thalweg {

// Whether nothing can be done with the group any more once MPI has ended.
inline bool ends_with_mpi(const Group& group) {
  const std::string_view kind = group.kind();
  return kind == "mpi" || kind == "hybrid";
}

// Names the collective call that this task makes on a group, or on what is open with one, before anything else of the
// call, so that tasks which make different ones are told apart.
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
