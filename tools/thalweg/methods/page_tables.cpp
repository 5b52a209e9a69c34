// Tables: medians of every cell, cost of merging, overlap with computation, memory and files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "methods/method_table.hpp"
#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

std::string columns_of(const Report& report, const char* more) {
  std::string html = fmt::format("<th scope=\"col\" class=\"name\">method</th>{}", more);
  for (const auto& lines : headings_of(report.cells()).lines)
    html += fmt::format("<th scope=\"col\">{}</th>", cell_heading(lines));
  return html;
}

std::string method_header(const Report& report, const std::string& id) {
  const MethodFound& method = report.method(id);
  return fmt::format("<th scope=\"row\" class=\"name\"><a href=\"#m-{}\">{}</a></th>", method.number,
                     escaped(method.title));
}

std::string interval(const std::string& low, const std::string& high) {
  return fmt::format("<small>{}–{}</small>", low, high);
}

std::string speed_entry(const Report& report, const std::string& method, const std::string& phase, const Cell& cell) {
  const ResultRow* row = report.find(method, phase, cell);
  if (row == nullptr) return "<td class=\"none\">–</td>";
  const auto speed = [&](double seconds) { return speed_text(mib_per_second(row->bytes, seconds)); };
  const bool best = report.best(phase, cell) == row;
  return fmt::format("<td{} title=\"{}, {}\">{}{}</td>", best ? " class=\"best\"" : "",
                     seconds_text(row->seconds.median), count_text(row->seconds.n, "time"), speed(row->seconds.median),
                     row->seconds.n > 1 ? interval(speed(row->seconds.high), speed(row->seconds.low)) : "");
}

void add_phase_table(std::string& html, const Report& report, const std::string& phase, bool open) {
  const CellHeadings headings = headings_of(report.cells());
  html += fmt::format("<details{}><summary>{}</summary>\n", open ? " open" : "", escaped(phase));
  html += open_table(fmt::format("MiB/s: median, and its interval below. <b>Bold</b>: the fastest of the cell.{}",
                                 headings.common.empty() ? "" : " All cells: " + escaped(headings.common) + "."),
                     columns_of(report, "<th scope=\"col\">group</th>"));
  html += "<tbody>\n";
  for (const GroupedMethod& method : report.grouping(phase).methods) {
    html += fmt::format("<tr>{}<td>{}</td>", method_header(report, method.id), badge(method.group));
    for (const Cell& cell : report.cells()) html += speed_entry(report, method.id, phase, cell);
    html += "</tr>\n";
  }
  html += "</tbody></table></div></details>\n";
}

// Time until the global array exists: the write, and the merge if any.
struct Whole {
  double write = 0, merge = 0;
  double sum() const { return write + merge; }
};

bool makes_global_array(const std::string& id) {
  const methods::MethodInfo* info = methods::find_method(id);
  return info != nullptr && info->outcome == methods::Outcome::global_array;
}

std::optional<Whole> whole_of(const Report& report, const std::string& id, const Cell& cell) {
  const ResultRow *write = report.find(id, "write", cell), *merge = report.find(id, "merge", cell);
  if (write == nullptr || (merge == nullptr && !makes_global_array(id))) return std::nullopt;
  return Whole{write->seconds.median, merge == nullptr ? 0 : merge->seconds.median};
}

struct WholeMethod {
  std::string id;
  double sum = 0;  // sum of ln(time / best time)
  int cells = 0;
  bool merged = false;
};

std::vector<WholeMethod> ranked_wholes(const Report& report) {
  std::vector<WholeMethod> ranked;
  for (const MethodFound& method : report.methods()) ranked.push_back({method.id});
  for (const Cell& cell : report.cells()) {
    double best = 0;
    for (const WholeMethod& method : ranked) {
      const auto whole = whole_of(report, method.id, cell);
      if (whole && whole->sum() > 0 && (best == 0 || whole->sum() < best)) best = whole->sum();
    }
    for (WholeMethod& method : ranked) {
      const auto whole = whole_of(report, method.id, cell);
      if (!whole || whole->sum() <= 0) continue;
      method.sum += std::log(whole->sum() / best);
      method.merged = method.merged || whole->merge > 0;
      ++method.cells;
    }
  }
  std::erase_if(ranked, [](const WholeMethod& method) { return method.cells == 0; });
  std::ranges::stable_sort(ranked, {}, [](const WholeMethod& method) { return method.sum / method.cells; });
  return ranked;
}

std::string whole_entry(const Report& report, const std::string& id, const Cell& cell) {
  const auto whole = whole_of(report, id, cell);
  if (!whole) return "<td class=\"none\">–</td>";
  if (whole->merge == 0) return fmt::format("<td>{}</td>", seconds_text(whole->sum()));
  return fmt::format("<td>{}<small>{} + {}</small></td>", seconds_text(whole->sum()), seconds_text(whole->write),
                     seconds_text(whole->merge));
}

}  // namespace

void add_medians(std::string& html, const Report& report) {
  html +=
      "<section id=\"medians\" aria-labelledby=\"medians-h\"><h2 id=\"medians-h\">Numbers of every cell</h2>\n"
      "<p>The interval contains the median with a confidence of at least 95 % (order statistics); with fewer than 6 "
      "repetitions it is the full range.</p>\n";
  bool first = true;
  for (const std::string& phase : report.phases()) {
    if (phase == "overlap") continue;
    add_phase_table(html, report, phase, first);
    first = false;
  }
  html += "</section>\n";
}

void add_after(std::string& html, const Report& report) {
  html += "<section id=\"after\" aria-labelledby=\"after-h\"><h2 id=\"after-h\">Time to the global array</h2>\n";
  const std::vector<WholeMethod> ranked = ranked_wholes(report);
  const bool merged = std::ranges::any_of(ranked, &WholeMethod::merged);
  if (!merged) {
    html += "<p>No merge was measured in this run.</p></section>\n";
    return;
  }
  html +=
      "<p>Separate pieces are fast to write, but the array in one file requires a merge: the sum of write and merge, "
      "compared with the methods that write the global array directly.</p>\n";
  html += open_table("Time until one file contains the array in its order: medians, with write + merge below",
                     columns_of(report, "<th scope=\"col\">how</th><th scope=\"col\">to best</th>"));
  html += "<tbody>\n";
  for (const WholeMethod& method : ranked) {
    html += fmt::format("<tr>{}<td>{}</td><td>{:.2f}×</td>", method_header(report, method.id),
                        method.merged ? "merged" : "at once", std::exp(method.sum / method.cells));
    for (const Cell& cell : report.cells()) html += whole_entry(report, method.id, cell);
    html += "</tr>\n";
  }
  html += "</tbody></table></div></section>\n";
}

void add_overlap(std::string& html, const Report& report) {
  if (report.grouping("overlap").methods.empty()) return;
  html +=
      "<section id=\"overlap\" aria-labelledby=\"overlap-h\"><h2 id=\"overlap-h\">Writing while computing</h2>\n"
      "<p>The share of a write that is hidden behind computation: 100 % means that the write costs no time, 0 % that "
      "overlap gains nothing.</p>\n";
  html += open_table("Hidden share of the write: median and interval", columns_of(report, ""));
  html += "<tbody>\n";
  for (const MethodFound& method : report.methods()) {
    if (report.grouping("overlap").find(method.id) == nullptr) continue;
    html += fmt::format("<tr>{}", method_header(report, method.id));
    for (const Cell& cell : report.cells()) {
      const Estimate hidden = report.hidden(method.id, cell);
      const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
      html += hidden.n == 0 ? std::string("<td class=\"none\">–</td>")
                            : fmt::format("<td>{}{}</td>", percent(hidden.median),
                                          interval(percent(hidden.low), percent(hidden.high)));
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div></section>\n";
}

void add_footprint(std::string& html, const Report& report) {
  html += "<section id=\"footprint\" aria-labelledby=\"footprint-h\"><h2 id=\"footprint-h\">Memory and files</h2>\n";
  const Cell* cell = largest_cell(report);
  const bool has_facts = cell != nullptr && std::ranges::any_of(report.results().facts, [&](const FactsRecord& facts) {
                           return facts.cell == *cell;
                         });
  if (!has_facts) {
    html += "<p>This run did not record them.</p></section>\n";
    return;
  }
  html += open_table(fmt::format("After a write by {}: an array of {}. Memory: largest growth of one rank.",
                                 escaped(cell_text(*cell)), short_size(cell->bytes())),
                     "<th scope=\"col\" class=\"name\">method</th><th scope=\"col\">files</th><th "
                     "scope=\"col\">folders</th><th scope=\"col\">length</th><th scope=\"col\">stored</th><th "
                     "scope=\"col\">memory of a rank</th><th scope=\"col\">of the array</th>");
  html += "<tbody>\n";
  for (const MethodFound& method : report.methods()) {
    for (const FactsRecord& facts : report.results().facts) {
      if (facts.method != method.id || facts.cell != *cell) continue;
      html += fmt::format("<tr>{}<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0f} %</td></tr>\n",
                          method_header(report, method.id), facts.files, facts.folders, short_size(facts.file_bytes),
                          short_size(facts.stored_bytes), short_size(facts.memory_bytes),
                          100 * static_cast<double>(facts.memory_bytes) / static_cast<double>(cell->bytes()));
      break;
    }
  }
  html += "</tbody></table></div></section>\n";
}

}  // namespace tool::page
