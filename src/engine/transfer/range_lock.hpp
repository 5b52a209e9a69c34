// RangeLock: keeps writers away from bytes that a sieved write is about to write back as it read them.
//
// Ordinary writes share any range; a sieved one has its range alone. No thread blocks in it: a refused coroutine parks
// and tries again, so that one thread may carry both.
#pragma once

#include <mutex>

#include "async/op.hpp"
#include "engine/plan/file_domains.hpp"

namespace thalweg {

class RangeLock {
 public:
  // Lies with its user, and stays there while it is held, so that locking takes no memory.
  struct Hold {
    FileDomain range;
    bool exclusive = false;

   private:
    friend class RangeLock;
    RangeLock* lock_ = nullptr;
    Hold* after_ = nullptr;
  };
  // True: the range is held until unlock().
  bool try_lock(Hold& hold);
  void unlock(Hold& hold);
  // co_await: the range is held.
  WaitPoint locked(Hold& hold);

 private:
  std::mutex mutex_;
  Hold* first_ = nullptr;  // guarded by mutex_, with all that are linked to it
};

}  // namespace thalweg
