// A number that processes on one running kernel have in common, and no others.
#pragma once

#include <cstdint>

#include "base/visibility.hpp"

namespace thalweg {

// From the kernel's boot id; where that cannot be read, from the host name. Not negative.
TW_SHARED std::int64_t node_id();

}  // namespace thalweg
