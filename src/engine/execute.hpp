// Step 5 of a collective access (engine/collective.cpp): the bytes that this task has to move under the plan of all.
#pragma once

#include <cstdint>

#include "access/extent_list.hpp"
#include "engine/facts.hpp"
#include "engine/plan/plan.hpp"
#include "engine/shared_file.hpp"
#include "engine/shown.hpp"
#include "engine/transfer/io_context.hpp"
#include "engine/transfer/transfer.hpp"
#include "group/group.hpp"

namespace thalweg {

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
