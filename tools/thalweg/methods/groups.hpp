// Efficient, moderate, inefficient: divides methods into at most three groups by their distance to the best method of
// each cell. Pure; the result is independent of the order of rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/results.hpp"

namespace tool {

enum class Group { efficient, moderate, inefficient };
const char* group_name(Group group);

struct GroupedMethod {
  std::string id;
  double ratio = 1;  // geometric mean over its cells of its median time relative to the fastest method
  int cells = 0;
  Group group = Group::efficient;
};

struct Grouping {
  std::string phase;
  std::vector<GroupedMethod> methods;  // the best first
  std::vector<double> borders;         // ratios between the groups: one fewer than groups
  double noise = 0;                    // logarithmic error of ratios, from the intervals of the medians

  const GroupedMethod* find(std::string_view id) const;
  int groups() const { return methods.empty() ? 0 : static_cast<int>(borders.size()) + 1; }
  // Group of a method with this ratio.
  Group group_at(double ratio) const;
};

// `phase`: a phase of the records.
Grouping group_methods(const Results& results, std::string_view phase);
// For selected rows, such as those of some cells. Rows of other phases are ignored.
Grouping group_rows(std::span<const ResultRow> rows, std::string_view phase);

// Cuts `sorted` (ascending) into `k` stretches with the least sum of squared distances to their means; the lowest cut
// among equal ones. Returns where stretches 2 to k begin. 1 <= k <= sorted.size().
std::vector<size_t> best_cuts(std::span<const double> sorted, size_t k);

}  // namespace tool
