// Fold over a communicator: up a binomial tree and down again, O(log p) messages and records on each rank. A rank may
// leave instead: it informs its neighbours in the tree without waiting, and they inform all others.
#pragma once

#include "group/group.hpp"
#include "group/mpi/mpi_channel.hpp"

namespace thalweg {

// Returns the task that has left, if any (Leaver::call); the records are invalid then.
Op<Result<Leaver>> mpi_fold(const MpiChannel& channel, void* mine, void* before, Folding how);

// The communicator is kept until the neighbours have answered, which a later leave_mpi_fold() checks. At the end of
// MPI `all` are freed, answered or not. Called within a turn (mpi_turn.hpp).
void leave_mpi_fold(const MpiChannel& channel, Leaver leaver) noexcept;
void free_left_folds(bool all) noexcept;

}  // namespace thalweg
