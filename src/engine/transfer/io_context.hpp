// IoContext: what an operation works with while it runs.
#pragma once

#include "storage/io_queue.hpp"

namespace thalweg {

struct IoContext {
  IoQueue* queue = nullptr;  // of buffered transfers
  // Of buffered writes, where the storage is quick to answer: they are copies then, and the ring would give them to a
  // thread of the kernel. Null: as the others.
  IoQueue* copy_queue = nullptr;
  // Of what is to go on by itself: direct transfers, and windows of two-phase accesses on storage that is not quick.
  // Null: that of the thread that blocks.
  IoQueue* background_queue = nullptr;
  unsigned depth = 1;  // buffered transfers in flight; direct ones: as the strategy says
  // Nobody may come to hand over more: all transfers are to be in flight at once, however large that makes them.
  bool unattended = false;
};

}  // namespace thalweg
