// The ranks that each task serves, and the physical file in which the logical file of each rank lies.
//
// Ranks are named by ranges. A task serves the RankRanges that its caller chose; the RankMapping cuts each of them into
// PlacedRanges, one for every row of places in a physical file; a handle finds its own by rank in ServedRanges.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "group/group.hpp"
#include "multifile/format/header.hpp"
#include "multifile/options.hpp"

namespace thalweg {

// Consecutive ranks.
struct RankRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Consecutive ranks whose logical files have consecutive local indices in one physical file.
struct PlacedRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t local = 0;  // local index of the first
  std::uint32_t physical = 0;
  std::uint64_t slot = 0;  // number of the first among all ranks of the handle; set by ServedRanges
};

// floor(i * n / parts) for i <= parts, also where i * n exceeds 2^64 (parts < 2^32).
constexpr std::uint64_t even_share(std::uint64_t i, std::uint64_t parts, std::uint64_t n) {
  return n / parts * i + n % parts * i / parts;
}

// The ranks that a task of `size` serves among `n_logical`: what it asks for, or its even share of the first
// `n_numbered` and then, unless it tells that these are all, of those behind them, which tasks added.
Result<std::vector<RankRange>> served_ranges(const Serving& serving, TaskRank rank, TaskRank size,
                                             std::uint64_t n_logical, std::uint64_t n_numbered);

struct RankMapping {
  format::Mapping kind = format::Mapping::consecutive;
  std::vector<std::uint64_t> bounds;  // consecutive: first rank of each physical file, then N
  std::vector<std::uint64_t> table;   // table: local index << 32 | physical file, of each rank
  // Logical files that tasks added, by rank and by number; `slot` counts those before in the same physical file.
  std::vector<PlacedRange> added;

  // Calls fn(PlacedRange) for each part of the range that lies in one row.
  template <class F>
  void for_each_placed(const RankRange& range, F&& fn) const {
    const std::uint64_t end = range.first + range.count;
    for (std::uint64_t rank = range.first; rank < end;) {
      const PlacedRange placed = place(rank, end);
      fn(placed);
      rank += placed.count;
    }
  }
  // The ranks from `rank` on that lie in one row, up to `end`.
  PlacedRange place(std::uint64_t rank, std::uint64_t end) const {
    if (!added.empty() && rank >= added.front().first) return by_added(rank, end);
    return kind == format::Mapping::consecutive ? by_bounds(rank, end) : by_table(rank, end);
  }
  // As place(), only with consecutive ranks.
  PlacedRange by_bounds(std::uint64_t rank, std::uint64_t end) const {
    const auto above = std::upper_bound(bounds.begin(), bounds.end(), rank);
    const auto k = static_cast<std::uint32_t>(above - bounds.begin() - 1);
    return {rank, std::min(end, *above) - rank, rank - bounds[k], k};
  }

  // As place(), of added logical files.
  PlacedRange by_added(std::uint64_t rank, std::uint64_t end) const {
    const PlacedRange& run = *std::prev(std::ranges::upper_bound(added, rank, {}, &PlacedRange::first));
    const std::uint64_t within = rank - run.first;
    return {rank, std::min(end - rank, run.count - within), run.local + within, run.physical, run.slot + within};
  }

 private:
  PlacedRange by_table(std::uint64_t rank, std::uint64_t end) const {
    const std::uint64_t entry = table[rank];
    end = std::min<std::uint64_t>(end, table.size());
    std::uint64_t count = 1;
    while (rank + count < end && table[rank + count] == entry + (count << 32)) ++count;
    return {rank, count, entry >> 32, static_cast<std::uint32_t>(entry)};
  }
};

// The ranges that a handle serves, found by rank.
class ServedRanges {
 public:
  explicit ServedRanges(std::vector<PlacedRange> ranges);

  std::uint64_t count() const { return count_; }
  std::uint64_t first() const { return first_; }  // the rank named first; only when count() > 0
  // The rest of the range that holds `rank`, from `rank` on.
  std::optional<PlacedRange> find(std::uint64_t rank) const;

 private:
  std::vector<PlacedRange> ranges_;  // by first rank
  std::uint64_t count_ = 0;
  std::uint64_t first_ = 0;
};

}  // namespace thalweg
