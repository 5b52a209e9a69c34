#include "validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model.hpp"

namespace tool {

namespace {

constexpr double kAsGood = 1.1;

int cores_of(const Results& results, int otherwise) {
  const Json& run = results.run;
  const bool told = run.contains("machine") && run["machine"].contains("cores") && run["machine"]["cores"].is_number();
  return told ? std::clamp(run["machine"]["cores"].get<int>(), 1, 1 << 20) : otherwise;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

using Group = std::pair<Cell, std::string>;

}  // namespace

std::vector<ValidationPoint> validate(const Results& results, const Json& profile_entry, int cores) {
  const Calibration calibration = calibration_of(profile_entry);
  const int of_node = cores > 0 ? cores : cores_of(results, calibration.cores);
  std::map<std::pair<std::string, Cell>, int> readers;
  for (const TimeRecord& time : results.times)
    if (time.phase == "restart") readers[{time.method, time.cell}] = time.readers;
  std::vector<ValidationPoint> points;
  for (const ResultRow& row : result_rows(results)) {
    const methods::MethodInfo* method = methods::find_method(row.method);
    const Constants* constants = calibration.find(row.method, row.phase);
    if (method == nullptr || constants == nullptr || row.cell.cache != calibration.cache) continue;
    const auto found = readers.find({row.method, row.cell});
    const Load load = load_of(row.cell, row.phase, found == readers.end() ? 0 : found->second, of_node);
    ValidationPoint point;
    point.method = row.method;
    point.phase = row.phase;
    point.cell = row.cell;
    point.predicted_seconds = predicted_seconds(*method, row.phase, load, *constants);
    point.measured_seconds = row.seconds.median;
    point.used_for_tuning = std::ranges::count(calibration.cells, cell_text(row.cell)) > 0;
    points.push_back(std::move(point));
  }
  return points;
}

ValidationSummary summary_of(const std::vector<ValidationPoint>& points) {
  ValidationSummary out;
  out.of_tuning = std::ranges::all_of(points, &ValidationPoint::used_for_tuning);
  std::vector<double> errors;
  std::map<Group, std::vector<const ValidationPoint*>> groups;
  for (const ValidationPoint& point : points) {
    if ((point.used_for_tuning && !out.of_tuning) || point.measured_seconds <= 0) continue;
    errors.push_back(std::abs(point.predicted_seconds / point.measured_seconds - 1));
    groups[{point.cell, point.phase}].push_back(&point);
  }
  out.points = errors.size();
  out.median_error = median_of(std::move(errors));
  const auto measured = [](const ValidationPoint* point) { return point->measured_seconds; };
  const auto predicted = [](const ValidationPoint* point) { return point->predicted_seconds; };
  for (const auto& [group, all] : groups) {
    if (all.size() < 2) continue;
    const double named = (*std::ranges::min_element(all, {}, predicted))->measured_seconds;
    const double ratio = named / (*std::ranges::min_element(all, {}, measured))->measured_seconds;
    ++out.choices;
    if (ratio <= kAsGood) ++out.good_choices;
    out.worst_choice = std::max(out.worst_choice, ratio);
  }
  return out;
}

}  // namespace tool
