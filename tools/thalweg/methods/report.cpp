#include "methods/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "methods/method_table.hpp"
#include "methods/series.hpp"

namespace tool {
namespace {

const Grouping kNoGrouping;

std::vector<std::string> phases_of(const std::vector<ResultRow>& rows) {
  std::set<std::string> found;
  for (const ResultRow& row : rows) found.insert(row.phase);
  std::vector<std::string> phases;
  for (const std::string_view phase : phase_order()) {
    if (found.erase(std::string(phase)) > 0) phases.emplace_back(phase);
  }
  phases.insert(phases.end(), found.begin(), found.end());
  return phases;
}

template <class Member>
bool all_same(const std::vector<Cell>& cells, Member member) {
  return std::ranges::all_of(cells, [&](const Cell& cell) { return cell.*member == cells.front().*member; });
}

// Whether some cells differ only in the grid.
bool grids_matter(const std::vector<Cell>& cells) {
  std::set<Cell> without;
  for (Cell cell : cells) {
    cell.grid.clear();
    if (!without.insert(cell).second) return true;
  }
  return false;
}

}  // namespace

Report::Report(const Results& results)
    : results_(results),
      rows_(result_rows(results)),
      cells_(cells_of(results)),
      phases_(phases_of(rows_)),
      methods_(results.methods) {
  for (const ResultRow& row : rows_) places_[{row.method, row.phase, row.cell}] = &row;
  for (const std::string& phase : phases_) groupings_[phase] = group_rows(rows_, phase);
  add_unnamed_methods();
}

void Report::add_unnamed_methods() {
  std::set<std::string> known;
  for (const MethodFound& method : methods_) known.insert(method.id);
  for (const ResultRow& row : rows_) {
    if (!known.insert(row.method).second) continue;
    const methods::MethodInfo* info = methods::find_method(row.method);
    MethodFound method;
    method.id = row.method;
    method.title = info == nullptr ? row.method : std::string(info->title);
    method.number = info == nullptr ? 0 : info->number;
    method.built = true;
    methods_.push_back(method);
  }
  std::ranges::stable_sort(methods_, {}, &MethodFound::number);
}

const MethodFound& Report::method(const std::string& id) const {
  static const MethodFound unknown;
  const auto found = std::ranges::find(methods_, id, &MethodFound::id);
  return found == methods_.end() ? unknown : *found;
}

const ResultRow* Report::find(const std::string& method, const std::string& phase, const Cell& cell) const {
  const auto found = places_.find({method, phase, cell});
  return found == places_.end() ? nullptr : found->second;
}

const ResultRow* Report::best(const std::string& phase, const Cell& cell, int ours) const {
  const ResultRow* best = nullptr;
  for (const MethodFound& method : methods_) {
    const ResultRow* row = find(method.id, phase, cell);
    if (row == nullptr || (ours >= 0 && is_ours(method.id) != (ours == 1))) continue;
    if (best == nullptr || row->seconds.median < best->seconds.median) best = row;
  }
  return best;
}

const Grouping& Report::grouping(const std::string& phase) const {
  const auto found = groupings_.find(phase);
  return found == groupings_.end() ? kNoGrouping : found->second;
}

bool Report::has_times(const std::string& method) const {
  return std::ranges::any_of(rows_, [&](const ResultRow& row) { return row.method == method; });
}

Estimate Report::hidden(const std::string& method, const Cell& cell) const {
  std::vector<double> shares;
  for (const TimeRecord& time : results_.times) {
    if (time.method == method && time.phase == "overlap" && time.cell == cell) shares.push_back(time.hidden);
  }
  return estimate(shares);
}

bool is_ours(const std::string& method) {
  const methods::MethodInfo* info = methods::find_method(method);
  return info != nullptr && info->ours;
}

std::string reason_of(const MethodFound& method) {
  static constexpr std::string_view kSaid = "not built: ";
  if (method.reason.empty()) return "no reason was given";
  return method.reason.starts_with(kSaid) ? method.reason.substr(kSaid.size()) : method.reason;
}

CellHeadings headings_of(const std::vector<Cell>& cells) {
  CellHeadings headings;
  if (cells.empty()) return headings;
  const bool shape = all_same(cells, &Cell::shape), order = all_same(cells, &Cell::order);
  const bool cache = all_same(cells, &Cell::cache), grid = !grids_matter(cells);
  std::vector<std::string> common;
  const Cell& first = cells.front();
  if (shape) common.push_back(fmt::format("{} ({})", fmt::join(first.shape, "x"), short_size(first.bytes())));
  if (order) common.push_back("order " + first.order);
  if (cache) common.push_back("cache " + first.cache);
  headings.common = fmt::format("{}", fmt::join(common, ", "));
  for (const Cell& cell : cells) {
    std::vector<std::string> lines = {count_text(cell.ranks, "rank")};
    if (!grid) lines.push_back(fmt::format("as {}", fmt::join(cell.grid, "x")));
    if (!shape) lines.push_back(fmt::format("{}", fmt::join(cell.shape, "x")));
    if (!order) lines.push_back("order " + cell.order);
    if (!cache) lines.push_back(cell.cache);
    headings.lines.push_back(lines);
  }
  return headings;
}

RealCaches Report::real_caches() const {
  RealCaches found;
  for (const TimeRecord& time : results_.times) found[time.phase][time.cache].insert(time.method);
  return found;
}

}  // namespace tool
