// RangeLock: keeps a writer away from bytes that a sieved write is about to put back as it read them.
//
// Ordinary writes share any range; a rewrite has its range alone. Nothing here blocks: who is refused parks and asks
// again, so that one thread may carry both.
#pragma once

#include <cstdint>
#include <mutex>

#include "engine/plan/file_domains.hpp"

namespace thalweg {

enum class Writing { once, rewrite };

class RangeLock {
 public:
  // Lies with its owner, and stays there while it is held: to enter takes no memory.
  struct Hold {
    FileDomain range;
    Writing how = Writing::once;

   private:
    friend class RangeLock;
    Hold* before = nullptr;
    Hold* after = nullptr;
  };
  // True: the range is held until leave().
  bool try_lock(Hold& hold);
  void unlock(Hold& hold);

 private:
  std::mutex mutex_;
  Hold* first_ = nullptr;  // guarded by mutex_, with all that are linked to it
};

}  // namespace thalweg
