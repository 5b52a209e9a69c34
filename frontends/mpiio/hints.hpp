// Hints: MPI_Info objects, as hints of the library.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "thalweg/open.h"

namespace thalweg::mpiio {

using Hints = std::map<std::string, std::string>;

// Hints of the administrator or the user, in the file that ROMIO_HINTS names, else in /etc/romio-hints. Those of the
// program go before them.
Hints system_hints();

// Adds the hints of `info` that this library knows: MPI's reserved ones and those of ROMIO that have a meaning here, and
// its own with "thalweg_" before their names. Others are ignored; `warn`: with a line on stderr where one begins with
// "thalweg_".
void add_hints(MPI_Info info, bool warn, Hints& hints);
// Sets the options of an open.
void apply_hints(const Hints& hints, tw_options* options);
// Puts the stripes of the file, where the file system tells them, in place of those that were asked for; else says that
// these are not followed.
void show_stripes(const std::string& path, Hints& hints);
// The hints in force as a new object of MPI.
void to_info(const Hints& hints, MPI_Info* info);

}  // namespace thalweg::mpiio
