// Errors of a model relative to the measurements: plot and summary.
#include <fmt/format.h>

#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

void add_row(std::string& html, std::span<const ValidationPoint> points, bool tuned, const char* name) {
  const ValidationSummary sum = summary_of(points, tuned);
  if (sum.points == 0) return;
  html += fmt::format(
      "<tr><th scope=\"row\">{}</th><td>{}</td><td>{:.1f} %</td><td>{:.0f} %</td><td>{}</td></tr>\n", name, sum.points,
      100 * sum.median_error, 100 * sum.largest_error,
      sum.choices == 0 ? "–"
                       : fmt::format("{} of {} ({:.0f} %)", sum.good_choices, sum.choices,
                                     100.0 * static_cast<double>(sum.good_choices) / static_cast<double>(sum.choices)));
}

}  // namespace

void add_validation(std::string& html, std::span<const ValidationPoint> points, bool has_library) {
  if (points.empty()) return;
  html +=
      "<section id=\"validation\" aria-labelledby=\"validation-h\"><h2 id=\"validation-h\">Model and "
      "measurements</h2>\n"
      "<p id=\"validation-note\">Predictions of <code>thalweg advise</code> from the profile of this storage, and "
      "measured times. On the diagonal they are equal; hollow points were used for tuning the model.</p>\n";
  if (has_library) {
    html +=
        "<figure class=\"plot\" data-plot=\"validation\"><div class=\"canvas\"><canvas id=\"plot-validation\" "
        "role=\"img\" aria-label=\"Predicted against measured seconds\" aria-describedby=\"validation-note\">The "
        "numbers "
        "are in the table below.</canvas></div></figure>\n";
  }
  html += open_table("Error of the model, |predicted / measured - 1|",
                     "<th scope=\"col\">cells</th><th scope=\"col\">times</th><th scope=\"col\">median error</th><th "
                     "scope=\"col\">largest</th><th scope=\"col\">recommended method within 10 % of the best</th>");
  html += "<tbody>\n";
  add_row(html, points, false, "not used for tuning");
  add_row(html, points, true, "used for tuning");
  html += "</tbody></table></div></section>\n";
}

}  // namespace tool::page
