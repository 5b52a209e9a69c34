// How the library hears that MPI ends, and what is left then.
#pragma once

#include "base/status.hpp"

namespace thalweg {

// Once, before the first group is made: from now on operations are ended before MPI is (callers.hpp). An error of MPI.
int hear_of_mpi_end();
// MPI_Finalize has come so far that nothing of ours may call MPI any more.
bool mpi_ended();
Status mpi_is_gone();

}  // namespace thalweg
