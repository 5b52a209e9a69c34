// Collective agreement on a status: all tasks return the worst one.
//
// Between two collectives no task may return alone: agree, then return (docs/design/agreement.md).
#pragma once

#include <cstdint>

#include "group/group.hpp"

namespace thalweg {

// Collective. Returns OK on every task, or one failure (code, errno, message) on all: that with the most severe code
// and, among equals, of the lowest rank. Its message names that task when the group has several.
Op<Status> agree(Group& group, Status mine);

// Collective: fails on all tasks where they make different calls on the group (Group::set_call), or one has left.
Op<Status> agree_on_call(Group& group);

// Collective: agree(), and the smallest or largest `value` of all tasks (Reduction::min, max). Values are 0 .. 2^63-1.
Op<Result<std::int64_t>> agree_on(Group& group, Status mine, std::int64_t value, Reduction how);

// Collective. Agrees on `mine`; where all are OK, checks that `a` and `b` are equal on all tasks: a failure with `code`,
// "`what` differ between tasks". A failure in `mine` takes precedence.
Op<Status> same_on_all(Group& group, std::int64_t a, std::int64_t b, Status mine, const char* what,
                       Code code = Code::invalid_argument);

}  // namespace thalweg
