// IoContext: the queues for the transfers of one operation.
#pragma once

#include "storage/io_queue.hpp"

namespace thalweg {

struct IoContext {
  IoQueue* queue = nullptr;  // for buffered transfers
  // For buffered writes on storage that answers quickly: such a write is a copy, which the ring would pass to a
  // thread of the kernel. Null: `queue` serves them.
  IoQueue* copy_queue = nullptr;
  // For transfers in the background: direct ones, and windows of two-phase accesses on storage that is not quick.
  // Null: blocking_background_queue().
  IoQueue* background_queue = nullptr;
  IoQueue* work_queue = nullptr;  // for the work of a request (IoTransfer::work)
  unsigned depth = 1;             // buffered transfers in flight; the strategy sets the number of direct ones
  // No thread will come to submit more later, so all transfers are submitted at once, of any size.
  bool unattended = false;
};

}  // namespace thalweg
