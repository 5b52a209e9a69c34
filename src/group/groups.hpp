// Factories of the groups that need no MPI. Others: sim_group.hpp, mpi_group.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "group/group.hpp"
#include "thalweg/group.h"

namespace thalweg {

class Team;

// A group of one task.
std::unique_ptr<Group> make_self_group();

// The state shared by `tasks` threads of one process. Every thread then makes its own group from it.
Result<std::shared_ptr<Team>> make_team(std::int64_t tasks);
// Independent, once per rank: a rank in use is refused. The group keeps the team alive.
Result<std::unique_ptr<Group>> make_team_group(std::shared_ptr<Team> team, TaskRank rank);

// Collective. All threads of all ranks, numbered by rank, then thread. `threads` groups the threads of this process.
// `ranks` groups the processes; only thread 0 passes it (null elsewhere) and only thread 0 uses it.
Op<Result<std::unique_ptr<Group>>> make_hybrid_group(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks);

// Collective. `transport` is the caller's, whose rules are in thalweg/group.h. Takes over `user`: `release` is
// called once for it, also on failure.
Op<Result<std::unique_ptr<Group>>> make_callback_group(tw_transport transport);

}  // namespace thalweg
