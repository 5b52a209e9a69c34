// Factory of groups of MPI ranks.
#pragma once

#include <mpi.h>
#include <memory>

#include "group/group.hpp"

namespace thalweg {

struct MpiOptions {
  // Longest single MPI message in bytes; longer data are split. MPI counts in int, so at most 2^31-1.
  int message_limit = 1 << 30;
  int largest_tag = 32767;  // guaranteed by every MPI
};

// Collective over `comm`, which is duplicated. All collectives use nonblocking MPI calls and are polled.
Result<std::unique_ptr<Group>> make_mpi_group(MPI_Comm comm, const MpiOptions& options = {});

}  // namespace thalweg
