// How the ranks move their elements by one of the four levels of MPI-IO: a call for each run of elements, by each rank
// alone (0) or all together (1); a view with all runs and one call, alone (2) or together (3).
// After Thakur, Gropp and Lusk, A Case for Using MPI's Derived Datatypes to Improve I/O Performance, 1998.
#pragma once

#include "datatype.hpp"
#include "method.hpp"
#include "mpiio_file.hpp"

namespace methods {

// The file is the array.
void move_in_array(MpiioFile& file, const Task& task, int level);
// The file is the blocks of those who wrote, one behind the other.
void move_in_chunks(MpiioFile& file, const Task& task, int level);

// Sets a view of the block of this rank in the array; of nothing in particular, if it has no element. Collective.
void view_block(MpiioFile& file, const Task& task);

}  // namespace methods
