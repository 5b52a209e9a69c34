// Open files belong to one process. The child of a fork has the memory of its parent, but neither its threads nor its
// locks: a new era begins there, in which handles of earlier eras are refused.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace thalweg {

using ProcessEra = std::uint32_t;

namespace detail {
extern std::atomic<ProcessEra> process_era;
}

inline ProcessEra process_era() { return detail::process_era.load(std::memory_order_relaxed); }
void begin_process_era();

// Blocks fork() while it exists: for opening and closing descriptors whose locks a child must not inherit.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  void close_in_children(int descriptor);  // closes it in each child before fork() returns there
  void forget(int descriptor);             // called before the descriptor is closed here
};

}  // namespace thalweg
