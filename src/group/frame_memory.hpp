// Memory for the frames of coroutines: it does not run out in the middle of a collective.
//
// A task that cannot make a frame could neither come to the next collective nor tell the others, which would wait for
// it. So what operator new refuses is taken from a reserve that the library brings along: enough for the frames that a
// task has alive at once, several times over. Threads: any.
#pragma once

#include <cstddef>

#include "base/visibility.hpp"

namespace thalweg {

TW_SHARED void* take_frame_memory(std::size_t bytes);  // throws bad_alloc when the reserve is used up, too
TW_SHARED void free_frame_memory(void* memory) noexcept;

}  // namespace thalweg
