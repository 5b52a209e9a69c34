// What the model says of what was measured. How wrong it was: methods/validation_summary.hpp. Pure.
#pragma once

#include <vector>

#include "methods/results.hpp"
#include "methods/validation_summary.hpp"

namespace tool {

// All that was measured of methods that the entry of a profile has constants for. Empty: it has none, or of another
// cache.
std::vector<ValidationPoint> validate(const Results& results, const Json& profile_entry, int cores = 0);

}  // namespace tool
