// The hints that an MPI library says are in effect.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace methods {

// Frees `info`. Nothing of it: empty.
std::map<std::string, std::string> take_info(MPI_Info info);
std::map<std::string, std::string> hints_of(MPI_File file);

}  // namespace methods
