// Compares logarithms of ratios: twice as slow and twice as fast have equal distance from 1. The cuts are exact
// (dynamic programming over sorted values, as in Fisher, "On Grouping for Maximum Homogeneity", 1958), not those of a
// k-means, which depend on the start.
#include "methods/groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tool {
namespace {

constexpr size_t kMostGroups = 3;
// Two groups need a gap and different means: measurements vary by a few percent, and a difference below a quarter is
// irrelevant in practice.
constexpr double kLeastGap = 1.1;
constexpr double kLeastStep = 1.25;
// Ratio to the first group from which the second of two groups is inefficient, otherwise moderate.
constexpr double kInefficient = 2;
constexpr double kLeastSeconds = 1e-9;

double log_of(double seconds) { return std::log(std::max(seconds, kLeastSeconds)); }

// Sums over a stretch of sorted values in constant time.
class Stretches {
 public:
  explicit Stretches(std::span<const double> values) : sum_(values.size() + 1), square_(values.size() + 1) {
    for (size_t i = 0; i < values.size(); ++i) {
      sum_[i + 1] = sum_[i] + values[i];
      square_[i + 1] = square_[i] + values[i] * values[i];
    }
  }
  double mean(size_t begin, size_t end) const { return (sum_[end] - sum_[begin]) / static_cast<double>(end - begin); }
  // Sum of squared distances to the mean.
  double cost(size_t begin, size_t end) const {
    const double sum = sum_[end] - sum_[begin];
    return std::max(0.0, square_[end] - square_[begin] - sum * sum / static_cast<double>(end - begin));
  }

 private:
  std::vector<double> sum_, square_;
};

constexpr double kNever = std::numeric_limits<double>::infinity();

// Least cost of the first j values with one more stretch than in `cost`, and where that stretch begins.
std::vector<double> with_one_more(const Stretches& stretches, const std::vector<double>& cost, size_t g,
                                  std::vector<size_t>& from) {
  std::vector<double> next(cost.size(), kNever);
  for (size_t j = g + 1; j < cost.size(); ++j) {
    for (size_t begin = g; begin < j; ++begin) {
      const double sum = cost[begin] + stretches.cost(begin, j);
      if (sum >= next[j]) continue;
      next[j] = sum;
      from[j] = begin;
    }
  }
  return next;
}

// Whether `cuts` separate distinct groups.
bool are_apart(std::span<const double> sorted, const std::vector<size_t>& cuts, double noise) {
  const Stretches stretches(sorted);
  const double gap = std::max(std::log(kLeastGap), 2 * noise);
  size_t begin = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t cut = cuts[i], end = i + 1 < cuts.size() ? cuts[i + 1] : sorted.size();
    const bool apart = sorted[cut] - sorted[cut - 1] >= gap &&
                       stretches.mean(cut, end) - stretches.mean(begin, cut) >= std::log(kLeastStep);
    if (!apart) return false;
    begin = cut;
  }
  return true;
}

// Half the width of the interval in logarithms, median over all rows; a mean over cells has a smaller error.
double noise_of(const std::vector<const ResultRow*>& rows) {
  std::vector<double> widths;
  std::set<Cell> cells;
  for (const ResultRow* row : rows) cells.insert(row->cell);
  for (const ResultRow* row : rows) {
    if (row->seconds.n > 1) widths.push_back((log_of(row->seconds.high) - log_of(row->seconds.low)) / 2);
  }
  return cells.empty() ? 0 : estimate(widths).median / std::sqrt(static_cast<double>(cells.size()));
}

std::vector<GroupedMethod> ratios_of(const std::vector<const ResultRow*>& rows) {
  std::map<Cell, double> best;
  for (const ResultRow* row : rows) {
    const auto [found, added] = best.try_emplace(row->cell, log_of(row->seconds.median));
    if (!added) found->second = std::min(found->second, log_of(row->seconds.median));
  }
  // By cell within a method: sums of doubles depend on their order, and rows come in any order.
  std::map<std::pair<std::string, Cell>, double> logs;
  for (const ResultRow* row : rows) logs[{row->method, row->cell}] = log_of(row->seconds.median) - best.at(row->cell);
  std::vector<GroupedMethod> methods;
  for (const auto& [key, distance] : logs) {
    if (methods.empty() || methods.back().id != key.first) methods.push_back({key.first, 0, 0, Group::efficient});
    methods.back().ratio += distance;
    ++methods.back().cells;
  }
  for (GroupedMethod& method : methods) method.ratio = std::exp(method.ratio / method.cells);
  std::ranges::stable_sort(methods, {}, &GroupedMethod::ratio);
  return methods;
}

}  // namespace

const char* group_name(Group group) {
  switch (group) {
    case Group::efficient:
      return "efficient";
    case Group::moderate:
      return "moderate";
    default:
      return "inefficient";
  }
}

const GroupedMethod* Grouping::find(std::string_view id) const {
  const auto found = std::ranges::find(methods, id, &GroupedMethod::id);
  return found == methods.end() ? nullptr : &*found;
}

Group Grouping::group_at(double ratio) const {
  const auto above = std::ranges::count_if(borders, [&](double border) { return ratio >= border; });
  if (above == 0) return Group::efficient;
  if (borders.size() == 2) return above == 1 ? Group::moderate : Group::inefficient;
  const auto slower = std::ranges::find_if(methods, [&](const auto& m) { return m.ratio >= borders[0]; });
  return slower == methods.end() ? Group::moderate : slower->group;
}

std::vector<size_t> best_cuts(std::span<const double> sorted, size_t k) {
  const size_t n = sorted.size();
  const Stretches stretches(sorted);
  // cost[j]: of the first j values in the current number of stretches; from[g][j]: beginning of the last stretch.
  std::vector<double> cost(n + 1, kNever);
  for (size_t j = 1; j <= n; ++j) cost[j] = stretches.cost(0, j);
  std::vector<std::vector<size_t>> from(k, std::vector<size_t>(n + 1, 0));
  for (size_t g = 1; g < k; ++g) cost = with_one_more(stretches, cost, g, from[g]);
  std::vector<size_t> cuts(k - 1);
  for (size_t g = k, end = n; g-- > 1;) cuts[g - 1] = end = from[g][end];
  return cuts;
}

Grouping group_rows(std::span<const ResultRow> rows, std::string_view phase) {
  std::vector<const ResultRow*> chosen;
  for (const ResultRow& row : rows) {
    if (row.phase == phase && row.seconds.n > 0) chosen.push_back(&row);
  }
  Grouping grouping;
  grouping.phase = phase;
  grouping.noise = noise_of(chosen);
  grouping.methods = ratios_of(chosen);
  std::vector<double> logs;
  logs.reserve(grouping.methods.size());
  for (const GroupedMethod& method : grouping.methods) logs.push_back(std::log(method.ratio));
  std::vector<size_t> cuts;
  for (size_t k = std::min(kMostGroups, logs.size()); k > 1; --k) {
    cuts = best_cuts(logs, k);
    if (are_apart(logs, cuts, grouping.noise)) break;
    cuts.clear();
  }
  for (const size_t cut : cuts) grouping.borders.push_back(std::exp((logs[cut - 1] + logs[cut]) / 2));
  if (cuts.empty()) return grouping;
  const Stretches stretches(logs);
  const bool far = stretches.mean(cuts[0], logs.size()) - stretches.mean(0, cuts[0]) >= std::log(kInefficient);
  for (size_t i = cuts[0]; i < logs.size(); ++i) {
    const bool last = cuts.size() == 2 ? i >= cuts[1] : far;
    grouping.methods[i].group = last ? Group::inefficient : Group::moderate;
  }
  return grouping;
}

Grouping group_methods(const Results& results, std::string_view phase) {
  return group_rows(result_rows(results), phase);
}

}  // namespace tool
