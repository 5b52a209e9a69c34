// The access of a group to a file: gather, plan, transfer, agree. One text for blocking and nonblocking use, for
// reading and writing, for threads, processes and simulated tasks.
#pragma once

#include <cstdint>

#include "base/size_units.hpp"
#include "engine/access.hpp"
#include "engine/plan/plan.hpp"
#include "engine/shared_file.hpp"
#include "engine/transfer/io_context.hpp"
#include "group/group.hpp"

namespace thalweg {

struct Outcome {
  Status status;            // the same on every task
  std::uint64_t moved = 0;  // for this task: fewer than asked for only where a read meets the end of the file
  std::uint64_t end_of_file = kMostOffset;  // where a read of any task met it; the same on every task
  Plan plan;                                // how it was done
  Pattern pattern;
  std::size_t tasks = 0;
};

// Collective over `group`. `file` may be null on a task that has none: `access.status` says why.
// `ticket`: task 0 of an access in order has drawn it at the call (SharedPosition).
Op<Outcome> access_all(Group& group, SharedFile* file, Access access, SharedPosition::Ticket ticket, IoContext io);

// This task alone.
Op<Outcome> access_one(SharedFile& file, Access access, IoContext io);

// Fails with wrong_mode when the file was not opened for it.
Status check_mode(const SharedFile& file, Direction direction);

}  // namespace thalweg
