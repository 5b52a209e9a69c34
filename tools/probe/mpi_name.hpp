// The name of the MPI library.
#pragma once

#include <string>

namespace probe {

// "MPICH 4.0.2", "Open MPI v4.1.4": the library's version text, cut to a name. May be called before MPI_Init.
std::string mpi_name();

}  // namespace probe
