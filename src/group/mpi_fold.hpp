// Fold over a communicator: up a binomial tree and down again, O(log p) messages and records on each rank.
#pragma once

#include <mpi.h>

#include "group/group.hpp"

namespace thalweg {

struct MpiRanks {
  MPI_Comm comm;
  int rank, size;
};

Op<Status> mpi_fold(MpiRanks ranks, int tag, void* mine, void* before, Folding how);

}  // namespace thalweg
