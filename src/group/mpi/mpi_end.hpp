// Ends the library's use of MPI before MPI_Finalize does.
#pragma once

#include "base/status.hpp"

namespace thalweg {

// Once, before the first group is made: from now on operations are ended before MPI is (callers.hpp). Returns an
// error code of MPI.
int hear_of_mpi_end();
// Whether MPI_Finalize has progressed so far that the library may call MPI no more.
bool mpi_ended();
Status mpi_is_gone();

}  // namespace thalweg
