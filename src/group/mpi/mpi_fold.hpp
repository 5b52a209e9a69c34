// Fold over a communicator: up a binomial tree and down again, O(log p) messages and records on each rank. A rank may
// leave instead: it tells its neighbours in the tree and waits for nobody, and they tell all others.
#pragma once

#include <mpi.h>

#include "group/group.hpp"

namespace thalweg {

struct MpiRanks {
  MPI_Comm comm;
  int rank, size;
};

struct FoldOf {
  void* mine;
  void* before;
  Folding how;
  Leaver* leaver;  // [out] a task that has left; then the records say nothing
};

Op<Status> mpi_fold(MpiRanks ranks, int tag, FoldOf what);

// Takes the communicator over, which is freed when the neighbours have answered what this rank did not wait for: a
// later leave_mpi_fold() looks. At the end of MPI `all` are freed, also where nobody answers. In a turn (mpi_turn.hpp).
void leave_mpi_fold(MpiRanks ranks, int tag, Leaver leaver) noexcept;
void free_left_folds(bool all) noexcept;

}  // namespace thalweg
