// Selects the tasks that may aggregate for the group that opens a file, and tests whether they reach the memory of
// their nodes.
#pragma once

#include "engine/shared_file.hpp"
#include "group/group.hpp"

namespace thalweg {

// Default limit per node: more writers per node have no use on any storage we measured.
inline constexpr std::int64_t kAggregatorsOfNode = 4;

// Collective. Selects process leaders, one on each node before a second one on any; the leader of each process stores
// them in `file`. None for groups of one process, and where messages pass through other tasks. The group caches the
// result (Group::keep), which saves the collectives at the next open with an equal hint.
Op<Status> find_aggregators(Group& group, SharedFile& file);

}  // namespace thalweg
