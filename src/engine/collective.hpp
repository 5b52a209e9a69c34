// The access of a group to a file: gather, plan, transfer, agree. One text for blocking and nonblocking use, for
// reading and writing, for threads, processes and simulated tasks.
#pragma once

#include <cstdint>

#include "async/request.hpp"
#include "base/size_units.hpp"
#include "engine/plan/plan.hpp"
#include "engine/shared_file.hpp"
#include "engine/task_access.hpp"
#include "group/group.hpp"

namespace thalweg {

struct Outcome {
  Status status;            // equal on all tasks
  std::uint64_t moved = 0;  // bytes of this task: fewer than asked for only where a read meets the end of the file
  std::uint64_t end_of_file = kMostOffset;  // where a read of any task met it; equal on all tasks
  GroupAccess access = {};                  // of no task: the access failed before it was planned
  Plan plan = {};
};

using AccessRequest = RequestFor<Outcome>;

// Collective over `group`. `file` may be null on a task that has none; `access.status` has the reason then. `ticket`:
// task 0 of an access in order has drawn it at the call (SharedPosition).
Op<Outcome> access_all(Group& group, SharedFile* file, TaskAccess access, SharedPosition::Ticket ticket, IoContext io);

// Independent: this task alone.
Op<Outcome> access_one(SharedFile& file, TaskAccess access, IoContext io);

// Fails with wrong_mode when the file was not opened for it.
Status check_mode(const SharedFile& file, Direction direction);

}  // namespace thalweg
