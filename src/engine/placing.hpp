// Placing: where the extents of one task lie in the file, by the placement of its access.
#pragma once

#include <cstdint>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/access.hpp"

namespace thalweg {

// Orders the extents of the access; those that are placed one behind the other, from `base` on, get their offsets in
// `placed`, which `list` then borrows. Fails with out_of_range, invalid_argument or no_memory.
Status order_list(const Access& access, std::uint64_t base, std::vector<Extent>& placed, ExtentList& list);

}  // namespace thalweg
