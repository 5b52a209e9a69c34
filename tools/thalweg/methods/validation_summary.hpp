// Summary of the errors of a model. Pure.
#pragma once

#include <span>
#include <string>

#include "methods/results.hpp"

namespace tool {

// A prediction of a measured time.
struct ValidationPoint {
  std::string method;
  Cell cell;
  std::string phase;
  double predicted_seconds = 0, measured_seconds = 0;
  bool used_for_tuning = false;
};

struct ValidationSummary {
  size_t points = 0;
  double median_error = 0;   // relative to the measurement
  double largest_error = 0;  // relative to the measurement
  size_t choices = 0;        // cells and phases with at least two methods
  size_t good_choices = 0;   // the recommended method was within 10 % of the best
  double worst_choice = 1;   // largest ratio of recommended to best
  bool of_tuning = false;    // points used for tuning
};

// Summarises the points used for tuning, or the others; points without measurable time are ignored. A cell and phase
// with a tuning point is a tuning choice.
ValidationSummary summary_of(std::span<const ValidationPoint> points, bool of_tuning);
// Summarises points not used for tuning, unless there are no others.
ValidationSummary summary_of(std::span<const ValidationPoint> points);

}  // namespace tool
