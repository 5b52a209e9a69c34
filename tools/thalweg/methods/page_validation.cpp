// How far a model was from what was measured: plot, and what it comes to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

constexpr double kNear = 1.1;  // a method that was named is good enough within this of the fastest

bool counts(const ValidationPoint& point) { return point.predicted_seconds > 0 && point.measured_seconds > 0; }

// In how many cells and phases the method with the least prediction was measured near the fastest. A cell with a time
// that was used for tuning counts as tuned.
struct Advice {
  int cells = 0, good = 0;
};

Advice advice_of(std::span<const ValidationPoint> points, bool tuned) {
  std::map<std::pair<std::string, Cell>, std::vector<const ValidationPoint*>> cells;
  for (const ValidationPoint& point : points) {
    if (counts(point)) cells[{point.phase, point.cell}].push_back(&point);
  }
  Advice advice;
  for (const auto& [key, found] : cells) {
    const bool was_tuned = std::ranges::any_of(found, [](const auto* point) { return point->used_for_tuning; });
    if (found.size() < 2 || was_tuned != tuned) continue;  // one method is no choice
    const auto* named = *std::ranges::min_element(found, {}, &ValidationPoint::predicted_seconds);
    const auto* best = *std::ranges::min_element(found, {}, &ValidationPoint::measured_seconds);
    ++advice.cells;
    advice.good += named->measured_seconds <= kNear * best->measured_seconds ? 1 : 0;
  }
  return advice;
}

void add_row(std::string& html, std::span<const ValidationPoint> points, bool tuned, const char* name) {
  std::vector<double> errors;
  for (const ValidationPoint& point : points) {
    if (counts(point) && point.used_for_tuning == tuned)
      errors.push_back(100 * std::abs(point.predicted_seconds / point.measured_seconds - 1));
  }
  if (errors.empty()) return;
  const Advice advice = advice_of(points, tuned);
  const Estimate error = estimate(errors);
  html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{:.1f} %</td><td>{:.0f} %</td><td>{}</td></tr>\n",
                      name, errors.size(), error.median, std::ranges::max(errors),
                      advice.cells == 0 ? "–"
                                        : fmt::format("{} of {} ({:.0f} %)", advice.good, advice.cells,
                                                      100.0 * advice.good / advice.cells));
}

}  // namespace

void add_validation(std::string& html, std::span<const ValidationPoint> points, bool has_library) {
  if (points.empty()) return;
  html +=
      "<section id=\"validation\" aria-labelledby=\"validation-h\"><h2 id=\"validation-h\">The model against the "
      "measurements</h2>\n<p id=\"validation-note\">What <code>thalweg advise</code> predicts from the profile of this "
      "storage, against what was measured. On the diagonal it is right; hollow points were used for tuning the "
      "model.</p>\n";
  if (has_library) {
    html +=
        "<figure class=\"plot\" data-plot=\"validation\"><div class=\"canvas\"><canvas id=\"plot-validation\" "
        "role=\"img\" aria-label=\"Predicted against measured seconds\" aria-describedby=\"validation-note\">The "
        "numbers "
        "are in the table below.</canvas></div></figure>\n";
  }
  html += open_table("Error of the model, |predicted / measured - 1|",
                     "<th scope=\"col\">cells</th><th scope=\"col\">times</th><th scope=\"col\">median error</th>"
                     "<th scope=\"col\">largest</th><th scope=\"col\">named method within 10 % of the best</th>");
  html += "<tbody>\n";
  add_row(html, points, false, "not used for tuning");
  add_row(html, points, true, "used for tuning");
  html += "</tbody></table></div></section>\n";
}

}  // namespace tool::page
