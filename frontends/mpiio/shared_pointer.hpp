// The shared file pointer.
#pragma once

#include <cstdint>

#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

// Adds to the pointer, and returns where it was.
std::int64_t advance_shared(OpenFile& file, std::int64_t etypes);
// Sets the pointer, with equal values on all ranks. To be followed by a collective call before the pointer is set again.
void set_shared(OpenFile& file, std::int64_t position);
// The begin of this rank's part of an access in the order of ranks; the pointer moves by the sum. Collective: it
// returns when the pointer has moved by all parts.
std::int64_t advance_ordered(OpenFile& file, std::int64_t etypes);

}  // namespace thalweg::mpiio
