// Memory for the frames of coroutines: it does not run out in the middle of a collective.
//
// A task that cannot make a frame could neither come to the next collective nor tell the others, which would wait for
// it. So what operator new refuses is taken from a reserve that the library brings along: enough for the frames that a
// task has alive at once, several times over. Threads: any.
#pragma once

#include <cstddef>
#include <vector>

#include "base/visibility.hpp"

namespace thalweg {

TW_SHARED void* take_frame_memory(std::size_t bytes);  // throws bad_alloc when the reserve is used up, too
TW_SHARED void free_frame_memory(void* memory) noexcept;

// For what a task cannot do without either.
template <class T>
struct FrameAllocator {
  using value_type = T;
  FrameAllocator() = default;
  template <class U>
  FrameAllocator(const FrameAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_frame_memory(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { free_frame_memory(memory); }
  bool operator==(const FrameAllocator&) const = default;
};
// Some words for each task, for instance. The reserve has 4 KiB in a piece: one word for each of some 500 tasks.
template <class T>
using FrameVector = std::vector<T, FrameAllocator<T>>;

}  // namespace thalweg
