// The three groups with their ratios, and Thalweg's conclusions checked with this run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/conclusions.hpp"
#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

constexpr double kFullBar = 32;  // the ratio of a bar of full width; bars are logarithmic

void add_member(std::string& html, const Report& report, const GroupedMethod& method, int cells) {
  const double width = std::clamp(100 * std::log(method.ratio) / std::log(kFullBar), 0.0, 100.0);
  html += fmt::format(
      "<li><a href=\"#m-{}\">{}</a><span class=\"ratio\">{:.2f}×</span>{}<span class=\"bar\" aria-hidden=\"true\">"
      "<i style=\"width:{:.0f}%\"></i></span></li>\n",
      report.method(method.id).number, escaped(report.method(method.id).title), method.ratio,
      method.cells < cells ? fmt::format("<small>{} of {} cells</small>", method.cells, cells) : "", width);
}

void add_grouping(std::string& html, const Report& report, const std::string& phase, bool open) {
  const Grouping& grouping = report.grouping(phase);
  if (grouping.methods.empty()) return;
  const int cells = std::ranges::max(grouping.methods, {}, &GroupedMethod::cells).cells;
  html +=
      fmt::format("<details class=\"grouping\"{}><summary>{} <small>{}</small></summary>\n<div class=\"columns\">\n",
                  open ? " open" : "", escaped(phase), count_text(grouping.groups(), "group"));
  for (const Group group : {Group::efficient, Group::moderate, Group::inefficient}) {
    if (std::ranges::find(grouping.methods, group, &GroupedMethod::group) == grouping.methods.end()) continue;
    html += fmt::format("<div class=\"group {}\"><h3>{}</h3><ol>\n", group_name(group), badge(group));
    for (const GroupedMethod& method : grouping.methods) {
      if (method.group == group) add_member(html, report, method, cells);
    }
    html += "</ol></div>\n";
  }
  html += "</div></details>\n";
}

}  // namespace

void add_groups(std::string& html, const Report& report) {
  html +=
      "<section id=\"groups\" aria-labelledby=\"groups-h\"><h2 id=\"groups-h\">Groups</h2>\n"
      "<p>Each number is the time of a method relative to the fastest method of the cell (geometric mean over cells). "
      "Groups are found by clustering these ratios on a logarithmic scale; close ratios give fewer than three "
      "groups.</p>\n";
  bool first = true;
  for (const std::string& phase : report.phases()) {
    if (phase == "overlap") continue;
    add_grouping(html, report, phase, first);
    first = false;
  }
  html += "</section>\n";
}

void add_conclusions(std::string& html, const Report& report) {
  html +=
      "<section id=\"conclusions\" aria-labelledby=\"conclusions-h\"><h2 id=\"conclusions-h\">Five conclusions, "
      "checked with this run</h2>\n"
      "<p>The statements and their limits are Thalweg's. They are not quoted from the study that raised the question "
      "(M. Haefele, <cite>Comparison of Different Methods for Performing Parallel I/O</cite>, 2010), which draws five "
      "conclusions of its own. They are confirmed or refuted for this machine and this run only.</p>\n"
      "<ol class=\"conclusions\">\n";
  for (const Conclusion& conclusion : conclusions(report.results())) {
    const char* kind = conclusion.verdict == Verdict::confirmed ? "yes"
                       : conclusion.verdict == Verdict::refuted ? "no"
                                                                : "open";
    html += fmt::format("<li class=\"{}\"><h3><span class=\"mark\">{}</span> {}</h3>\n<ul>\n", kind,
                        verdict_name(conclusion.verdict), escaped(conclusion.statement));
    for (const std::string& number : conclusion.numbers) html += fmt::format("<li>{}</li>\n", escaped(number));
    html += fmt::format("</ul><p class=\"note\">{}</p></li>\n", escaped(conclusion.criterion));
  }
  html += "</ol></section>\n";
}

}  // namespace tool::page
