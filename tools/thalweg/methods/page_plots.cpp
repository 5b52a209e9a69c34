// The section of plots, and the input of page.js.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "methods/page_parts.hpp"
#include "methods/series.hpp"

namespace tool::page {
namespace {

// Methods of a family share a colour.
constexpr std::array<std::string_view, 8> kFamilies = {"Thalweg",        "File per task", "MPI-IO, global array",
                                                       "MPI-IO, chunks", "HDF5",          "Other libraries",
                                                       "Gather",         "Others"};

size_t family_of(std::string_view id) {
  if (id.starts_with("tw-")) return 0;
  if (id.starts_with("file-per-task")) return 1;
  if (id.starts_with("mpiio-chunk-")) return 3;
  if (id.starts_with("mpiio-")) return 2;
  if (id.starts_with("hdf5-")) return 4;
  if (id == "pnetcdf" || id == "sionlib") return 5;
  return id == "gather" ? 6 : 7;
}

double rounded(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 0;
  const double unit = std::pow(10.0, 5 - std::floor(std::log10(value)));
  return std::round(value * unit) / unit;
}

Json methods_of(const Report& report) {
  Json list = Json::array();
  std::map<size_t, int> members;
  for (const MethodFound& method : report.methods()) {
    if (!report.has_times(method.id)) continue;
    const size_t family = family_of(method.id);
    list.push_back({{"id", printable(method.id, false)},
                    {"number", method.number},
                    {"title", printable(method.title, false)},
                    {"family", family},
                    {"member", members[family]++},
                    {"ours", is_ours(method.id)}});
  }
  return list;
}

// [phase, method, cell, MiB/s, least, most], the first three as indices into the lists.
Json points_of(const Report& report, const std::vector<std::string>& phases) {
  std::map<std::string, int> place;
  int next = 0;  // in the order of methods_of(), not of names
  for (const MethodFound& method : report.methods()) {
    if (report.has_times(method.id)) place[method.id] = next++;
  }
  Json points = Json::array();
  for (const ResultRow& row : report.rows()) {
    const auto phase = std::ranges::find(phases, row.phase);
    if (phase == phases.end() || row.bytes == 0) continue;
    const auto cell = std::ranges::lower_bound(report.cells(), row.cell);
    const auto speed = [&](double seconds) { return rounded(mib_per_second(row.bytes, seconds)); };
    points.push_back({phase - phases.begin(), place[row.method], cell - report.cells().begin(),
                      speed(row.seconds.median), speed(row.seconds.high), speed(row.seconds.low)});
  }
  return points;
}

Json groups_of(const Report& report, const std::vector<std::string>& phases) {
  Json all = Json::array();
  for (const std::string& phase : phases) {
    Json one = Json::object();
    for (const GroupedMethod& method : report.grouping(phase).methods)
      one[printable(method.id, false)] = group_name(method.group);
    all.push_back(one);
  }
  return all;
}

Json series_json(const Report& report) {
  Json list = Json::array();
  for (const Series& series : series_of(report.results())) {
    Json cells = Json::array();
    for (const Cell& cell : series.cells)
      cells.push_back(std::ranges::lower_bound(report.cells(), cell) - report.cells().begin());
    list.push_back({{"scaling", scaling_name(series.scaling)}, {"label", series.label}, {"cells", cells}});
  }
  return list;
}

std::vector<std::string> plotted_phases(const Report& report) {
  std::vector<std::string> phases = report.phases();
  std::erase(phases, "overlap");  // a share, not a bandwidth
  return phases;
}

void add_figure(std::string& html, const char* id, const std::string& title, const char* note) {
  html += fmt::format(
      "<figure class=\"plot\" data-plot=\"{0}\"><figcaption><h3>{1}</h3><label class=\"pick\" "
      "hidden><span>Curve</span> <select></select></label></figcaption>\n"
      "<div class=\"canvas\"><canvas id=\"plot-{0}\" role=\"img\" aria-label=\"{1}\" "
      "aria-describedby=\"plot-note\">{1}: the tables below have these numbers.</canvas></div>\n"
      "<p class=\"note\">{2}</p></figure>\n",
      id, title, note);
}

void add_controls(std::string& html, const std::vector<std::string>& phases) {
  html += "<form class=\"controls\" id=\"controls\"><fieldset><legend>Phase</legend>";
  for (size_t i = 0; i < phases.size(); ++i) {
    html += fmt::format("<label><input type=\"radio\" name=\"phase\" value=\"{}\"{}><span>{}</span></label>", i,
                        i == 0 ? " checked" : "", escaped(phases[i]));
  }
  html +=
      "</fieldset><fieldset><legend>Colours</legend>"
      "<label><input type=\"radio\" name=\"colours\" value=\"family\" checked><span>by family</span></label>"
      "<label><input type=\"radio\" name=\"colours\" value=\"group\"><span>by group</span></label></fieldset>"
      "</form>\n";
}

}  // namespace

void add_plots(std::string& html, const Report& report, bool has_library) {
  html += "<section id=\"plots\" aria-labelledby=\"plots-h\"><h2 id=\"plots-h\">Bandwidth</h2>\n";
  const std::vector<std::string> phases = plotted_phases(report);
  if (!has_library || phases.empty()) {
    html += phases.empty() ? "<p class=\"warn\">No measurements.</p></section>\n"
                           : "<p class=\"warn\">No plots: this program was built without Chart.js. The tables below "
                             "have all numbers.</p></section>\n";
    return;
  }
  html +=
      "<noscript><p class=\"warn\">Plots need JavaScript. The tables below have all numbers.</p></noscript>\n"
      "<p id=\"plot-note\">Medians in MiB of the array per second, bars from least to most of the confidence interval. "
      "Both axes are logarithmic. Point at a curve to read it; the legend switches methods on and off. The numbers are "
      "in <a href=\"#medians\">the tables</a>.</p>\n";
  add_controls(html, phases);
  html += "<div class=\"plots\">\n";
  const std::vector<Series> series = series_of(report.results());
  const auto has = [&](Scaling scaling) {
    return std::ranges::any_of(series, [&](const Series& one) { return one.scaling == scaling; });
  };
  if (has(Scaling::strong))
    add_figure(html, "strong", "Strong scaling", "One array, written by increasing numbers of ranks.");
  if (has(Scaling::weak))
    add_figure(html, "weak", "Weak scaling", "Equal bytes per rank: the array grows with the ranks.");
  if (has(Scaling::size))
    add_figure(html, "size", "Over the size of the array", "One number of ranks, arrays of increasing size.");
  html +=
      "</div>\n<div class=\"legend\" id=\"legend\" role=\"group\" aria-label=\"Methods shown in the plots\"></div>\n";
  html += "<div class=\"plots wide\">\n";
  add_figure(html, "bars", "One cell, all methods", "The fastest first.");
  html += "</div></section>\n";
}

std::string plot_data(const Report& report, std::span<const ValidationPoint> points) {
  const std::vector<std::string> phases = plotted_phases(report);
  Json data;
  data["phases"] = Json::array();
  for (const std::string& phase : phases) data["phases"].push_back(printable(phase, false));
  data["families"] = kFamilies;
  data["methods"] = methods_of(report);
  data["groups"] = groups_of(report, phases);
  data["cells"] = Json::array();
  for (const Cell& cell : report.cells())
    data["cells"].push_back({{"ranks", cell.ranks}, {"bytes", cell.bytes()}, {"text", cell_text(cell)}});
  data["series"] = series_json(report);
  data["points"] = points_of(report, phases);
  data["validation"] = Json::array();
  for (const ValidationPoint& point : points) {
    if (!(point.predicted_seconds > 0) || !(point.measured_seconds > 0)) continue;
    data["validation"].push_back({{"method", printable(point.method, false)},
                                  {"family", family_of(point.method)},
                                  {"phase", printable(point.phase, false)},
                                  {"cell", cell_text(point.cell)},
                                  {"predicted", rounded(point.predicted_seconds)},
                                  {"measured", rounded(point.measured_seconds)},
                                  {"tuned", point.used_for_tuning}});
  }
  std::string safe;
  for (const char c : data.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace tool::page
