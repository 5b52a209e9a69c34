// Fold over a communicator: up a binomial tree and down again, O(log p) messages and records on each rank. A rank may
// leave instead: it tells its neighbours in the tree and waits for nobody, and they tell all others.
#pragma once

#include "group/group.hpp"
#include "group/mpi/mpi_channel.hpp"

namespace thalweg {

struct FoldOf {
  void* mine;
  void* before;
  Folding how;
  Leaver* leaver;  // [out] a task that has left; then the records say nothing
};

Op<Status> mpi_fold(const MpiChannel& channel, FoldOf what);

// The communicator stays until the neighbours have answered what this rank did not wait for: a later leave_mpi_fold()
// looks. At the end of MPI `all` are freed, also where nobody answers. In a turn (mpi_turn.hpp).
void leave_mpi_fold(const MpiChannel& channel, Leaver leaver) noexcept;
void free_left_folds(bool all) noexcept;

}  // namespace thalweg
