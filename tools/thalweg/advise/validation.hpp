// Predictions of the model for measured times. Errors: methods/validation_summary.hpp. Pure.
#pragma once

#include <vector>

#include "methods/results.hpp"
#include "methods/validation_summary.hpp"

namespace tool {

// All measurements of methods with constants in the profile entry. Empty: it has none, or for another cache.
std::vector<ValidationPoint> validate(const Results& results, const Json& profile_entry, int cores = 0);

}  // namespace tool
