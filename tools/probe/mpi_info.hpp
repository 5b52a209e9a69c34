// The hints that an MPI library reports to be in effect.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace probe {

// Frees `info`. MPI_INFO_NULL: empty.
std::map<std::string, std::string> take_info(MPI_Info info);
std::map<std::string, std::string> hints_of(MPI_File file);

}  // namespace probe
