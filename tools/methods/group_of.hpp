// The group of Thalweg for a communicator.
#pragma once

#include <mpi.h>

#include <thalweg/thalweg.hpp>

namespace methods {

// Made once, as a program would, and kept until the communicator is freed. Collective at the first call.
const thalweg::Group& group_of(MPI_Comm comm);

}  // namespace methods
