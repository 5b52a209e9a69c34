// What an MPI library reports: its name, and the hints in effect.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace probe {

// Frees `info`. MPI_INFO_NULL: empty.
std::map<std::string, std::string> take_info(MPI_Info info);
std::map<std::string, std::string> hints_of(MPI_File file);

// "MPICH 4.0.2", "Open MPI v4.1.4": the library's version text, cut to a name. May be called before MPI_Init.
std::string mpi_name();

}  // namespace probe
