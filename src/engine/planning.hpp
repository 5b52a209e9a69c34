// Planning: the plan of one access under the strategy of its file, past the page cache or through it.
#pragma once

#include "engine/shared_file.hpp"

namespace thalweg {

// `facts` has what is known of the access; what the strategy says of staging and sieving is put over it. `can_direct`:
// the file has direct I/O. Total and deterministic, so all tasks that have the same strategy plan alike.
Plan plan_access(const Strategy& strategy, const PlanInput& facts, bool can_direct);

}  // namespace thalweg
