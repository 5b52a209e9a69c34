#include "validation.hpp"

#include <algorithm>
#include <map>

#include "model.hpp"

namespace tool {
namespace {

int cores_of(const Results& results, int otherwise) {
  const Json& run = results.run;
  const bool told = run.contains("machine") && run["machine"].contains("cores") && run["machine"]["cores"].is_number();
  return told ? std::clamp(run["machine"]["cores"].get<int>(), 1, 1 << 20) : otherwise;
}

}  // namespace

std::vector<ValidationPoint> validate(const Results& results, const Json& profile_entry, int cores) {
  const Calibration calibration = calibration_of(profile_entry);
  const int of_node = cores > 0 ? cores : cores_of(results, calibration.cores);
  const Readers readers = readers_of(results);
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

}  // namespace tool
