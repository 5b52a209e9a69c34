// Dense numbers of processes and nodes, from any numbers that are equal among tasks of a process or node.
#pragma once

#include <cstdint>

#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

// Collective. Tasks with equal numbers share a process (a node); a negative number is shared with no task. Uses only
// gather and scatter of `group`, whose place need not be known yet.
TW_SHARED Op<Result<Place>> find_place(Group& group, std::int64_t process_id, std::int64_t node_id);

}  // namespace thalweg
