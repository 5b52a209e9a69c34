// IoContext: the queues that carry the transfers of one operation.
#pragma once

#include "storage/io_queue.hpp"

namespace thalweg {

struct IoContext {
  IoQueue* queue = nullptr;  // for buffered transfers
  // For buffered writes where the storage is quick to answer: they are copies then, and the ring would give them to a
  // thread of the kernel. Null: `queue` carries them.
  IoQueue* copy_queue = nullptr;
  // For transfers that go on in the background: direct ones, and windows of two-phase accesses on storage that is not
  // quick. Null: blocking_background_queue().
  IoQueue* background_queue = nullptr;
  unsigned depth = 1;  // buffered transfers in flight; the strategy has the number of direct ones
  // No thread may come to submit more later, so all transfers are submitted at once, however large that makes them.
  bool unattended = false;
};

}  // namespace thalweg
