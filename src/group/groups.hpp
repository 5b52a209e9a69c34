// Factories of the groups that need no MPI. Others: sim_group.hpp, mpi_group.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "group/group.hpp"

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

// Collectives that the caller supplies; tw_group_callbacks_t in thalweg/group.h has the rules.
struct GroupCallbacks {
  TaskRank rank = 0;
  TaskRank size = 1;
  void* user = nullptr;
  // Each returns 0, or another number on all tasks for a failure.
  int (*barrier)(void* user) = nullptr;
  int (*broadcast)(void* user, void* data, std::size_t nbytes, std::int64_t root) = nullptr;
  int (*gather)(void* user, const void* data, std::size_t nbytes, void* all, const std::size_t* nbytes_of,
                std::int64_t root) = nullptr;
  int (*scatter)(void* user, const void* all, const std::size_t* nbytes_of, void* data, std::size_t nbytes,
                 std::int64_t root) = nullptr;
  // Both optional. `duplicate` gives an independent `user`; `release` frees one.
  int (*duplicate)(void* user, void** copy) = nullptr;
  void (*release)(void* user) = nullptr;
  // Both or neither: the element-wise maximum of n numbers over all tasks. The first starts it and returns at once;
  // the numbers stay in place until the second has returned, or for good where it is not called.
  int (*start_largest)(void* user, std::int64_t* numbers, std::int64_t n, void** pending) = nullptr;
  int (*finish_largest)(void* user, void* pending) = nullptr;
  // Any number that the tasks of one process (node) have in common; negative: this task is alone.
  std::int64_t process_id = -1;
  std::int64_t node_id = -1;
};

// Collective. Takes over `callbacks.user`: `release` is called once for it, also on failure.
Op<Result<std::unique_ptr<Group>>> make_callback_group(GroupCallbacks callbacks);

}  // namespace thalweg
