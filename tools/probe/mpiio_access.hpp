// Moves the elements of the ranks by one of the four levels of MPI-IO: a call for each run of elements, independent (0)
// or collective (1); a view with all runs and one call, independent (2) or collective (3).
// After Thakur, Gropp and Lusk, A Case for Using MPI's Derived Datatypes to Improve I/O Performance, 1998.
#pragma once

#include "datatype.hpp"
#include "method.hpp"
#include "mpiio_file.hpp"

namespace probe {

// The file is the array.
void move_in_array(MpiioFile& file, const Task& task, int level);
// The file contains the consecutive blocks of the writers.
void move_in_chunks(MpiioFile& file, const Task& task, int level);

// Sets a view of the block of this rank in the array; an arbitrary view for an empty block. Collective.
void view_block(MpiioFile& file, const Task& task);

}  // namespace probe
