#include "methods/validation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace tool {
namespace {

constexpr double kAsGood = 1.1;  // a recommended method is good within this factor of the fastest

using Choices = std::map<std::pair<Cell, std::string>, std::vector<const ValidationPoint*>>;

void add_choice(ValidationSummary& sum, const std::vector<const ValidationPoint*>& methods) {
  const bool of_tuning = std::ranges::any_of(methods, [](const auto* point) { return point->used_for_tuning; });
  if (methods.size() < 2 || of_tuning != sum.of_tuning) return;  // one method is no choice
  const auto* named = *std::ranges::min_element(methods, {}, &ValidationPoint::predicted_seconds);
  const auto* best = *std::ranges::min_element(methods, {}, &ValidationPoint::measured_seconds);
  const double ratio = named->measured_seconds / best->measured_seconds;
  ++sum.choices;
  if (ratio <= kAsGood) ++sum.good_choices;
  sum.worst_choice = std::max(sum.worst_choice, ratio);
}

}  // namespace

ValidationSummary summary_of(std::span<const ValidationPoint> points, bool of_tuning) {
  ValidationSummary sum;
  sum.of_tuning = of_tuning;
  std::vector<double> errors;
  Choices choices;
  for (const ValidationPoint& point : points) {
    if (!(point.measured_seconds > 0)) continue;
    choices[{point.cell, point.phase}].push_back(&point);
    if (point.used_for_tuning == of_tuning)
      errors.push_back(std::abs(point.predicted_seconds / point.measured_seconds - 1));
  }
  for (const auto& [where, methods] : choices) add_choice(sum, methods);
  if (errors.empty()) return sum;
  sum.points = errors.size();
  sum.largest_error = std::ranges::max(errors);
  sum.median_error = estimate(std::move(errors)).median;
  return sum;
}

ValidationSummary summary_of(std::span<const ValidationPoint> points) {
  return summary_of(points, std::ranges::all_of(points, &ValidationPoint::used_for_tuning));
}

}  // namespace tool
