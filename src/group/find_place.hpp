// Dense numbers of processes and nodes, from any numbers by which tasks recognise their neighbours.
#pragma once

#include <cstdint>

#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

// Collective. Tasks that give the same number share a process (a node); a negative one is shared with nobody.
// Uses gather and scatter of `group` only: its place need not be known yet.
TW_SHARED Op<Result<Place>> find_place(Group& group, std::int64_t process_id, std::int64_t node_id);

}  // namespace thalweg
