// A task's list of extents in file order, with what is needed to find a place in it at once.
//
// A list that is in order already is used where it lies and costs 8 bytes per extent; another one is sorted into a copy
// (linear for long lists, by radix), 64 bytes per extent at most while that runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extent/extent.hpp"

namespace thalweg {

class ExtentList {
 public:
  ExtentList() = default;
  // Borrows `extents` until the list is gone. Empty extents are skipped. Among equal offsets the order is kept.
  // Fails like summarise(), or with no_memory.
  static Result<ExtentList> of(std::span<const Extent> extents);

  std::span<const Extent> extents() const { return view_; }  // by offset, none empty, neighbours not merged
  const ExtentSummary& summary() const { return summary_; }  // of the list as given
  bool disjoint() const { return disjoint_; }                // after sorting

  // Sum of the bytes of all extents that lie below `offset` of the file. Logarithmic.
  std::uint64_t bytes_before(std::uint64_t offset) const;
  // Position of the first extent that may reach beyond `offset`. Logarithmic. All before it end at or below `offset`.
  std::size_t first_beyond(std::uint64_t offset) const;

 private:
  std::span<const Extent> view_;
  std::vector<Extent> sorted_;          // empty: view_ is the caller's
  std::vector<std::uint64_t> before_;   // bytes of all earlier extents; empty for lists of one
  std::vector<std::uint64_t> highest_;  // highest end of all up to this one; only when not disjoint
  ExtentSummary summary_;
  bool disjoint_ = true;
};

}  // namespace thalweg
