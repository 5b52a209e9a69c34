// Messages between the threads of a team, for groups of tw_group_callbacks(). A send waits until it is received, as a
// transport may do, and allocates nothing.
#pragma once

#include "group/group.hpp"
#include "thalweg/group.h"

namespace thalweg::test {

// Collective over a team. The caller hands the result to tw_group_callbacks(), which takes `user` over; the ids of
// process and node are -1.
tw_transport thread_transport(Group& team);

}  // namespace thalweg::test
