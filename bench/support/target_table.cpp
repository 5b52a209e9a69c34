// Prints the targets as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "support/report.hpp"

namespace bench {

namespace {

// A number with three significant digits.
std::string short_number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string limits_text(const Target& target) {
  std::string text;
  for (const Limit& limit : target.limits)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", limit.name, short_number(limit.value));
  return text;
}

void print_line(const Target& target, std::size_t width) {
  const auto measured = fmt::format("{} ({} .. {})", short_number(target.measured.median),
                                    short_number(target.measured.low), short_number(target.measured.high));
  fmt::print("{:<{}}  {:>22}  {:>12}  {:<5}  {}\n", target.name, width, measured, bound_text(target),
             target.met() ? "met" : "SHORT", limits_text(target));
}

// Result relative to the bound: 1 is just met.
double merit(const Target& target) {
  return target.at_least ? target.measured.median / target.bound : target.bound / target.measured.median;
}

// Distinct names of rows or columns, in order of appearance.
std::vector<std::string> distinct(const std::vector<Target>& targets, std::string Place::*part) {
  std::vector<std::string> names;
  for (const Target& target : targets) {
    const std::string& name = target.place.*part;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const Target* worst_at(const std::vector<Target>& targets, const std::string& row, const std::string& column) {
  const Target* worst = nullptr;
  for (const Target& target : targets) {
    if (target.place.row != row || target.place.column != column) continue;
    if (worst == nullptr || merit(target) < merit(*worst)) worst = &target;
  }
  return worst;
}

std::string cell_text(const Target* target) {
  if (target == nullptr) return "";
  std::string text = short_number(target->measured.median);
  if (!target->limits.empty()) text += fmt::format(" of {}", short_number(target->limits.front().value));
  return text + (target->met() ? "" : " SHORT");
}

// The limit of the first target of a row that has one, and the worst variant.
std::string remarks_on(const std::vector<const Target*>& cells) {
  std::string limit, worst;
  for (const Target* target : cells) {
    if (target == nullptr) continue;
    if (limit.empty() && !target->limits.empty()) limit = "limit: " + target->limits.front().name;
    if (!target->place.variant.empty()) worst = "worst: " + target->place.variant;
  }
  return limit + (limit.empty() || worst.empty() ? "" : "; ") + worst;
}

void print_table(const std::vector<Target>& targets) {
  constexpr std::size_t kCell = 20;
  const auto rows = distinct(targets, &Place::row);
  const auto columns = distinct(targets, &Place::column);
  if (rows.empty()) return;
  std::size_t width = 10;
  for (const std::string& row : rows) width = std::max(width, row.size());
  std::vector<std::size_t> widths;
  std::string names = fmt::format("\n{:<{}}", "", width), bounds = fmt::format("{:<{}}", "", width);
  for (const std::string& column : columns) {
    const auto in_it = std::find_if(targets.begin(), targets.end(),
                                    [&](const Target& target) { return target.place.column == column; });
    widths.push_back(std::max(kCell, column.size()));
    names += fmt::format("  {:>{}}", column, widths.back());
    bounds += fmt::format("  {:>{}}", bound_text(*in_it), widths.back());
  }
  fmt::print("{}\n{}\n", names, bounds);
  for (const std::string& row : rows) {
    std::string line = fmt::format("{:<{}}", row, width);
    std::vector<const Target*> cells;
    for (const std::string& column : columns) {
      cells.push_back(worst_at(targets, row, column));
      line += fmt::format("  {:>{}}", cell_text(cells.back()), widths[cells.size() - 1]);
    }
    fmt::print("{}  {}\n", line, remarks_on(cells));
  }
}

}  // namespace

std::string bound_text(const Target& target) {
  return fmt::format("{} {} {}", target.at_least ? ">=" : "<=", short_number(target.bound), target.unit);
}

void print_targets(const std::vector<Target>& targets) {
  std::size_t width = 10;
  for (const Target& target : targets)
    if (target.place.row.empty()) width = std::max(width, target.name.size());
  fmt::print("\n{:<{}}  {:>22}  {:>12}  {:<5}  {}\n", "target", width, "measured (min .. max)", "target", "met",
             "limit");
  for (const Target& target : targets)
    if (target.place.row.empty()) print_line(target, width);
  print_table(targets);
  const auto met = std::count_if(targets.begin(), targets.end(), [](const Target& target) { return target.met(); });
  fmt::print("{} of {} targets met\n", met, targets.size());
  std::fflush(stdout);
}

}  // namespace bench
