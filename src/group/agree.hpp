// Collective agreement on a status: the worst one is the status of all.
//
// Between two collectives nobody leaves alone: agree, then return (docs/design/agreement.md).
#pragma once

#include <cstdint>

#include "group/group.hpp"

namespace thalweg {

// Collective. OK on every task, or the same failure (code, errno, message) on every task: that of the most
// severe code and, among equals, of the lowest rank. Its message names that task when the group has several.
Op<Status> agree(Group& group, Status mine);

// Collective: fails on all tasks where they make different calls on the group (Group::set_call), or one has left.
Op<Status> agree_on_call(Group& group);

struct Agreement {
  Status status;
  std::int64_t value = 0;
};
enum class Wanted { smallest, largest };
// Collective: as agree(), and on the way the smallest or the largest `value` of all tasks. Values are 0 .. 2^63-1.
Op<Agreement> agree_on(Group& group, Status mine, std::int64_t value, Wanted wanted);

// Collective. Agrees on `mine`, and where all are well on that `a` and `b` are the same on all tasks: invalid_argument,
// "`what` differ between tasks". Where a task has a reason of its own to fail, that is told.
Op<Status> same_on_all(Group& group, std::int64_t a, std::int64_t b, Status mine, const char* what);

}  // namespace thalweg
