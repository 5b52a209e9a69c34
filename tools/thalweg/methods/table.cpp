#include "methods/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "methods/report.hpp"

namespace tool {
namespace {

constexpr int kLeastColumns = 80;
constexpr size_t kId = 27, kGroup = 11, kCell = 12;  // widths; the longest id of a known method has 27
constexpr size_t kLeft = 3 + kId + 1 + kGroup;

std::string spread_text(const Estimate& seconds) {
  if (seconds.n < 2 || seconds.median <= 0) return {};
  const double percent = 50 * (seconds.high - seconds.low) / seconds.median;
  return percent > 99 ? " >99%" : fmt::format(" ±{:.0f}%", percent);
}

// At most 5 characters for current speeds.
std::string speed_text(double mib) {
  if (mib < 99.95) return fmt::format("{:.1f}", mib);
  if (mib < 99'999.5) return fmt::format("{:.0f}", mib);
  return mib < 9'999'999.5 ? fmt::format("{:.0f}k", mib / 1000) : fmt::format("{:.0e}", mib);
}

std::string entry(const Report& report, const std::string& method, const std::string& phase, const Cell& cell) {
  const ResultRow* row = report.find(method, phase, cell);
  if (row == nullptr) return "-";
  if (phase == "overlap") {
    const Estimate hidden = report.hidden(method, cell);
    return fmt::format("{:.0f}%", 100 * hidden.median);
  }
  const char* mark = report.best(phase, cell) == row ? "*" : "";
  return fmt::format("{}{}{}", mark, speed_text(mib_per_second(row->bytes, row->seconds.median)),
                     spread_text(row->seconds));
}

void add_headings(std::string& text, const CellHeadings& headings, size_t first, size_t count) {
  size_t lines = 0;
  for (size_t i = first; i < first + count; ++i) lines = std::max(lines, headings.lines[i].size());
  for (size_t line = 0; line < lines; ++line) {
    const bool last = line + 1 == lines;
    std::string row = last ? fmt::format(" # {:<{}} {:<{}}", "method", kId, "group", kGroup) : std::string(kLeft, ' ');
    for (size_t i = first; i < first + count; ++i) {
      const auto& own = headings.lines[i];
      row += fmt::format("{:>{}}", line < own.size() ? own[line] : "", kCell);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
}

void add_phase(std::string& text, const Report& report, const std::string& phase, size_t columns) {
  const CellHeadings headings = headings_of(report.cells());
  const Grouping& grouping = report.grouping(phase);
  const size_t fit = std::max<size_t>(1, (columns - kLeft) / kCell), cells = report.cells().size();
  for (size_t first = 0; first < cells; first += fit) {
    const size_t count = std::min(fit, cells - first);
    text += fmt::format("{}{}, {}{}\n", text.empty() ? "" : "\n", printable(phase),
                        phase == "overlap" ? "share of the write hidden behind computing" : "MiB/s",
                        first > 0 ? " (continued)" : "");
    if (!headings.common.empty()) text += headings.common + "\n";
    add_headings(text, headings, first, count);
    for (const GroupedMethod& method : grouping.methods) {
      const MethodFound& found = report.method(method.id);
      std::string row = fmt::format("{:>2} {:<{}} {:<{}}", found.number, printable(method.id), kId,
                                    phase == "overlap" ? "" : group_name(method.group), kGroup);
      for (size_t i = first; i < first + count; ++i)
        row += fmt::format("{:>{}}", entry(report, method.id, phase, report.cells()[i]), kCell);
      text += row + "\n";
    }
  }
}

std::string mishap_line(const Mishap& mishap) {
  std::string what = mishap.method.empty() ? "the run" : printable(mishap.method);
  if (!mishap.phase.empty()) what += ", " + printable(mishap.phase);
  if (mishap.has_cell) what += ", " + cell_text(mishap.cell);
  return fmt::format("  {}: {}\n", what, printable(mishap.message));
}

void add_failures(std::string& text, const Results& results) {
  bool first = true;
  for (const Mishap& mishap : results.mishaps) {
    if (!mishap.failed) continue;
    if (first) text += "\nfailed\n";
    first = false;
    text += mishap_line(mishap);
  }
}

// Skipped measurements with one reason share a line.
void add_skipped(std::string& text, const Results& results) {
  std::vector<std::pair<const Mishap*, std::set<std::string>>> reasons;
  for (const Mishap& mishap : results.mishaps) {
    if (mishap.failed) continue;
    auto found = std::ranges::find_if(reasons, [&](const auto& one) {
      return one.first->phase == mishap.phase && one.first->message == mishap.message;
    });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {&mishap, {}});
    found->second.insert(mishap.method);
  }
  if (!reasons.empty()) text += "\nskipped\n";
  for (const auto& [mishap, methods] : reasons) {
    if (methods.size() == 1) {
      text += mishap_line(*mishap);
      continue;
    }
    text += fmt::format("  {}{}{} methods: {}\n", printable(mishap->phase), mishap->phase.empty() ? "" : ", ",
                        methods.size(), printable(mishap->message));
  }
}

// Marks times of a cache other than that of the table's heading.
void add_other_caches(std::string& text, const Report& report) {
  std::set<std::string> asked;
  for (const Cell& cell : report.cells()) asked.insert(cell.cache);
  const RealCaches found = report.real_caches();
  bool first = true;
  for (const std::string& phase : report.phases()) {
    const auto& caches = found.at(phase);
    for (const auto& [cache, methods] : caches) {
      if (asked.size() == 1 && asked.contains(cache)) continue;
      if (first) text += "\nactual cache of the times, where it differs from the requested one\n";
      first = false;
      const std::string who = caches.size() == 1 ? "all methods" : fmt::format("{}", fmt::join(methods, ", "));
      text += fmt::format("  {}, cache {}: {}\n", printable(phase), printable(cache), printable(who));
    }
  }
}

void add_not_built(std::string& text, const Results& results) {
  bool first = true;
  for (const MethodFound& method : results.methods) {
    if (method.built) continue;
    if (first) text += "\nnot built\n";
    first = false;
    text += fmt::format("  {} {}: {}\n", method.number, printable(method.id), printable(reason_of(method)));
  }
}

}  // namespace

std::string methods_table(const Results& results, int columns) {
  const Report report(results);
  std::string text;
  for (const std::string& phase : report.phases())
    add_phase(text, report, phase, static_cast<size_t>(std::max(columns, kLeastColumns)));
  if (!text.empty()) {
    text +=
        "\n* fastest of its cell\n"
        "± half of the interval that contains the median with 95 % confidence\n"
        "  (with fewer than 6 times: half of the full range)\n";
  } else {
    text = "nothing was measured\n";
  }
  add_not_built(text, results);
  add_other_caches(text, report);
  add_failures(text, results);
  add_skipped(text, results);
  if (!results.complete) text += "\nThe run is incomplete: these are the results so far.\n";
  return text;
}

}  // namespace tool
