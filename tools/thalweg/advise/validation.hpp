// How wrong the model was on what was measured. Pure.
#pragma once

#include <string>
#include <vector>

#include "methods/page.hpp"
#include "methods/results.hpp"

namespace tool {

// All that was measured of methods that the entry of a profile has constants for. Empty: it has none, or of another
// cache.
std::vector<ValidationPoint> validate(const Results& results, const Json& profile_entry, int cores = 0);

// Of points that were not used for tuning, unless there are no others.
struct ValidationSummary {
  size_t points = 0;
  double median_error = 0;  // relative to what was measured
  size_t choices = 0;       // cells and phases with at least two methods
  size_t good_choices = 0;  // where the named method was within 10 % of the best
  double worst_choice = 1;  // named over best, at worst
  bool of_tuning = false;   // all points were used for tuning
};
ValidationSummary summary_of(const std::vector<ValidationPoint>& points);

}  // namespace tool
