// Planning: the plan of one access under the strategy of its file, past the page cache or through it.
#pragma once

#include "engine/shared_file.hpp"

namespace thalweg {

// What decides, besides the costs, whether an access may go past the page cache.
struct DirectIo {
  bool possible = false;      // the file has it
  bool whole_blocks = false;  // what each task moves begins and ends blocks of the page cache only
};

// `facts` has what is known of the access; what the strategy says of staging, sieving and the method is put over it.
// Total and deterministic, so all tasks that have the same strategy plan alike.
Plan plan_access(const Strategy& strategy, const PlanInput& facts, DirectIo direct);

}  // namespace thalweg
