// A task's list of extents in file order, with an index for searching by offset.
//
// A list in order is used in place and costs 8 bytes per extent. Any other list is copied and sorted (linear for long
// lists, by radix), which takes up to 64 bytes per extent. A list whose own extents overlap costs 8 bytes more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

// Up to this size, in bytes, reading a hole from the page cache is cheaper than another call.
inline constexpr std::uint64_t kCloseBy = 4096;

// Summary of a list of extents, from one pass over it. Extents of 0 bytes do not count.
struct ExtentSummary {
  std::uint64_t n = 0;       // extents
  std::uint64_t bytes = 0;   // their sum
  std::uint64_t begin = 0;   // lowest offset; 0 when n is 0
  std::uint64_t end = 0;     // highest end
  std::uint64_t runs = 0;    // neighbours in list order that touch in the file are one run
  std::uint64_t pieces = 0;  // neighbours that touch in the file and in memory are one piece
  std::uint64_t stride = 0;  // distance of neighbouring runs when all are equally long and far apart, else 0
  // Number of runs when holes of at most kCloseBy bytes count as part of a run, and the bytes of these runs with the
  // holes. The number saturates at 2^32-1.
  std::uint64_t close_bytes = 0;
  std::uint32_t close_runs = 0;
  bool sorted = true;    // offsets never fall
  bool disjoint = true;  // sorted, and no two extents have a byte in common
};

// Takes one pass. Fails with invalid_argument (null memory) or out_of_range (an end or a sum above 2^63-1), naming
// the number of the extent.
Result<ExtentSummary> summarise(std::span<const Extent> extents);

class ExtentList {
 public:
  ExtentList() = default;
  ExtentList(ExtentList&&) noexcept = default;  // not copyable: the view may point into the list's own memory
  ExtentList& operator=(ExtentList&&) noexcept = default;
  // Borrows `extents` as long as the list exists. Empty extents are skipped; equal offsets keep their order. Fails
  // like summarise(), or with no_memory.
  static Result<ExtentList> of(std::span<const Extent> extents);

  std::span<const Extent> extents() const { return view_; }  // by offset, none empty, neighbours not merged
  const ExtentSummary& summary() const { return summary_; }  // summary of the list as given
  bool disjoint() const { return disjoint_; }                // after sorting

  // Bytes of the file below `offset` that the extents cover; overlapping bytes count once. Logarithmic.
  std::uint64_t bytes_before(std::uint64_t offset) const;
  // Position of the first extent that may reach beyond `offset`; all before it end at or below `offset`. Logarithmic.
  std::size_t first_beyond(std::uint64_t offset) const;

 private:
  void fill(std::span<const Extent> extents);
  void index_view();
  std::uint64_t highest(std::size_t i) const { return highest_.empty() ? view_[i].end() : highest_[i]; }

  std::span<const Extent> view_;
  std::vector<Extent> sorted_;          // empty: view_ is the caller's list
  std::vector<std::uint64_t> before_;   // bytes that all earlier extents cover; empty for lists of one
  std::vector<std::uint64_t> highest_;  // highest end of all extents up to this one; only when not disjoint
  ExtentSummary summary_;
  bool disjoint_ = true;
};

}  // namespace thalweg
