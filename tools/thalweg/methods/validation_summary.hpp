// What the errors of a model come to. Pure.
#pragma once

#include <span>
#include <string>

#include "methods/results.hpp"

namespace tool {

// What a model said of a time that was measured.
struct ValidationPoint {
  std::string method;
  Cell cell;
  std::string phase;
  double predicted_seconds = 0, measured_seconds = 0;
  bool used_for_tuning = false;
};

struct ValidationSummary {
  size_t points = 0;
  double median_error = 0;   // relative to what was measured
  double largest_error = 0;  // the same
  size_t choices = 0;        // cells and phases with at least two methods
  size_t good_choices = 0;   // where the named method was within 10 % of the best
  double worst_choice = 1;   // named over best, at worst
  bool of_tuning = false;    // of points that were used for tuning
};

// Of the points that were used for tuning, or of the others; those that took no measurable time do not count. A cell
// and phase with a point of tuning is a choice of tuning.
ValidationSummary summary_of(std::span<const ValidationPoint> points, bool of_tuning);
// Of points that were not used for tuning, unless there are no others.
ValidationSummary summary_of(std::span<const ValidationPoint> points);

}  // namespace tool
