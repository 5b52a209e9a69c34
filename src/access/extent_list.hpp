// A task's list of extents in file order, with what is needed to find a place in it at once.
//
// A list that is in order already is used where it lies and costs 8 bytes per extent; another one is sorted into a copy
// (linear for long lists, by radix), 64 bytes per extent at most while that runs. A list whose own extents overlap
// costs 8 bytes more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "access/extent.hpp"

namespace thalweg {

class ExtentList {
 public:
  ExtentList() = default;
  ExtentList(ExtentList&&) noexcept = default;  // no copies: the view may be of the list's own memory
  ExtentList& operator=(ExtentList&&) noexcept = default;
  // Borrows `extents` until the list is gone. Empty extents are skipped. Among equal offsets the order is kept.
  // Fails like summarise(), or with no_memory.
  static Result<ExtentList> of(std::span<const Extent> extents);

  std::span<const Extent> extents() const { return view_; }  // by offset, none empty, neighbours not merged
  const ExtentSummary& summary() const { return summary_; }  // of the list as given
  bool disjoint() const { return disjoint_; }                // after sorting

  // Bytes of the file below `offset` that the extents cover: the sum of their bytes, but where they overlap each byte
  // counts once. Logarithmic.
  std::uint64_t bytes_before(std::uint64_t offset) const;
  // Position of the first extent that may reach beyond `offset`. Logarithmic. All before it end at or below `offset`.
  std::size_t first_beyond(std::uint64_t offset) const;

 private:
  void fill(std::span<const Extent> extents);
  void index_view();
  std::uint64_t highest(std::size_t i) const { return highest_.empty() ? view_[i].end() : highest_[i]; }

  std::span<const Extent> view_;
  std::vector<Extent> sorted_;          // empty: view_ is the caller's
  std::vector<std::uint64_t> before_;   // bytes that all earlier extents cover; empty for lists of one
  std::vector<std::uint64_t> highest_;  // highest end of all up to this one; only when not disjoint
  ExtentSummary summary_;
  bool disjoint_ = true;
};

}  // namespace thalweg
