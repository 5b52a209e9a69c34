// The kinds of group that need no MPI, by factory. Sim is in sim_group.hpp, MPI in mpi_group.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "group/group.hpp"

namespace thalweg {

class Team;

// One task, alone.
std::unique_ptr<Group> make_self_group();

// What `tasks` threads of one process share. Every thread then makes its own group of it.
Result<std::shared_ptr<Team>> make_team(std::int64_t tasks);
// Independent, once per rank: a rank that is taken already is refused. The group keeps the team alive.
Result<std::unique_ptr<Group>> make_team_group(std::shared_ptr<Team> team, TaskRank rank);

// Collective. All threads of all ranks, numbered by rank, then thread. `threads` groups the threads of this process;
// `ranks` groups the processes and is given by thread 0 only (null elsewhere): only that thread ever uses it.
Op<Result<std::unique_ptr<Group>>> make_hybrid_group(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks);

// Collectives supplied by the caller; the rules are those of tw_group_callbacks_t in thalweg/group.h.
struct GroupCallbacks {
  TaskRank rank = 0;
  TaskRank size = 1;
  void* user = nullptr;
  // Each returns 0, or another number on all tasks when it failed.
  int (*barrier)(void* user) = nullptr;
  int (*broadcast)(void* user, void* data, std::size_t nbytes, std::int64_t root) = nullptr;
  int (*gather)(void* user, const void* data, std::size_t nbytes, void* all, const std::size_t* nbytes_of,
                std::int64_t root) = nullptr;
  int (*scatter)(void* user, const void* all, const std::size_t* nbytes_of, void* data, std::size_t nbytes,
                 std::int64_t root) = nullptr;
  // Both optional. `duplicate` gives an independent `user`; `release` frees one.
  int (*duplicate)(void* user, void** copy) = nullptr;
  void (*release)(void* user) = nullptr;
  // Both or neither: the largest of each of n numbers of all tasks. The first returns at once; the numbers stay where
  // they are until the second one has returned, or for good where it is not called.
  int (*start_largest)(void* user, std::int64_t* numbers, std::size_t n, void** pending) = nullptr;
  int (*finish_largest)(void* user, void* pending) = nullptr;
  // Any number that tasks of one process (node) have in common; negative: alone.
  std::int64_t process_id = -1;
  std::int64_t node_id = -1;
};

// Collective. Takes over `callbacks.user`: `release` is called once for it, also when this fails.
Op<Result<std::unique_ptr<Group>>> make_callback_group(GroupCallbacks callbacks);

}  // namespace thalweg
