// Efficient, moderate, inefficient: methods put into at most three groups by how far they are from the best method of
// each cell. Pure; the same rows give the same groups, in whatever order they come.
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
  double ratio = 1;  // geometric mean over its cells of its median time to that of the fastest method there
  int cells = 0;
  Group group = Group::efficient;
};

struct Grouping {
  std::string phase;
  std::vector<GroupedMethod> methods;  // the best first
  std::vector<double> borders;         // ratios between the groups: one less than there are groups
  double noise = 0;                    // ln: what ratios may be off by, from the intervals of the medians

  const GroupedMethod* find(std::string_view id) const;
  int groups() const { return methods.empty() ? 0 : static_cast<int>(borders.size()) + 1; }
  // Of a method with this ratio.
  Group group_at(double ratio) const;
};

// `phase`: one of the records.
Grouping group_methods(const Results& results, std::string_view phase);
// The same of rows that the caller chose, such as those of some cells. Rows of other phases are not looked at.
Grouping group_rows(std::span<const ResultRow> rows, std::string_view phase);

// Cuts `sorted` (rising) into `k` stretches with the least sum of squared distances to the means of their stretches;
// the least cut where several are as good. Returns where stretches 2 to k begin. 1 <= k <= sorted.size().
std::vector<size_t> best_cuts(std::span<const double> sorted, size_t k);

}  // namespace tool
