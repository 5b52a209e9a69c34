// The Thalweg group of a communicator.
#pragma once

#include <mpi.h>

#include <thalweg/thalweg.hpp>

namespace probe {

// Made at the first call and kept until the communicator is freed. Collective at the first call.
const thalweg::Group& group_of(MPI_Comm comm);

}  // namespace probe
