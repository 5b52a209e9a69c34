// Which tasks of the group that opens a file may aggregate for all, and whether they reach the memory of their nodes.
#pragma once

#include "engine/shared_file.hpp"
#include "group/group.hpp"

namespace thalweg {

// By default: more writers of one node are of no use to any storage we know.
inline constexpr std::int64_t kAggregatorsOfNode = 4;

// Collective. Leaders of processes, one of each node before a second one of any. Written to `file` by the leader of
// each process. Groups of one process need none, and where all messages pass through one task there are none. The group
// keeps what is found (Group::keep), which saves the collectives of the next time, unless the hint is another one.
Op<Status> find_aggregators(Group& group, SharedFile& file);

}  // namespace thalweg
