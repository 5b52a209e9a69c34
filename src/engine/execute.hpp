// Step 5 of a collective access (engine/collective.cpp): the bytes that this task has to move under the plan of all.
#pragma once

#include <cstdint>

#include "backend/io_queue.hpp"
#include "engine/facts.hpp"
#include "engine/shared_file.hpp"
#include "engine/shown.hpp"
#include "engine/transfer.hpp"
#include "extent/extent_list.hpp"
#include "group/group.hpp"
#include "plan/plan.hpp"

namespace thalweg {

// What an operation works with while it runs.
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

// What is carried out: the list of this task, what all know of all, and the plan that each made of it.
struct Execution {
  SharedFile* file;
  const ExtentList* own;
  Whole* whole;  // the lists of all; null where there are several processes
  const Facts& facts;
  std::uint64_t base;  // of an access in order
  Direction direction;
  const Plan& plan;
  IoContext io;
};

// Collective where the plan is Method::aggregate. A failure is this task's alone, and to be agreed on; what `what`
// points to must outlive the operation.
Op<TransferResult> execute(Execution what, Group& group);

}  // namespace thalweg
