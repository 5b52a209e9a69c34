// Where the ranks of a task lie: runs of ranks cut into stretches of one physical file.
#pragma once

#include <algorithm>

#include "multifile/write_plan.hpp"

namespace thalweg {

// Calls fn(stretch) for the run, cut where the physical file or the order of places changes.
template <class F>
void for_each_stretch(const WritePlan& plan, const RankRun& run, F&& fn) {
  std::uint64_t rank = run.first;
  const std::uint64_t end = run.first + run.count;
  while (rank < end) {
    Stretch stretch{rank, 1, 0, 0};
    if (plan.mapping == format::Mapping::consecutive) {
      const auto above = std::upper_bound(plan.bounds.begin(), plan.bounds.end(), rank);
      stretch.physical = static_cast<std::uint64_t>(above - plan.bounds.begin() - 1);
      stretch.count = std::min(end, *above) - rank;
      stretch.local = rank - plan.bounds[stretch.physical];
    } else {
      const std::uint64_t entry = plan.table[rank];
      while (rank + stretch.count < end && plan.table[rank + stretch.count] == entry + (stretch.count << 32))
        ++stretch.count;
      stretch.physical = entry & 0xFFFFFFFF;
      stretch.local = entry >> 32;
    }
    fn(stretch);
    rank += stretch.count;
  }
}

}  // namespace thalweg
