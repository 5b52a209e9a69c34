// RangeGate: keeps a writer away from bytes that a sieved write is about to put back as it read them.
//
// Ordinary writes share any range; a rewrite has its range alone. Nothing here blocks: who is refused parks and asks
// again, so that one thread may carry both.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "plan/file_domains.hpp"

namespace thalweg {

enum class Writing { once, rewrite };

class RangeGate {
 public:
  // True: the range is held until leave() with the same arguments.
  bool try_enter(FileDomain range, Writing how);
  void leave(FileDomain range, Writing how);

 private:
  struct Held {
    FileDomain range;
    Writing how;
  };
  std::mutex mutex_;
  std::vector<Held> held_;  // guarded by mutex_
};

}  // namespace thalweg
