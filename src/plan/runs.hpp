// Runs: what one worker moves, in file order. A run is a stretch of the file without a hole, and the pieces of memory
// that make it up; extents of all tasks that touch in the file become one run.
//
// For writing, where extents overlap each byte of the file is taken from one of them (the later one starts where the
// earlier one ended). For reading every extent gets its bytes: an overlap begins a new run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extent/extent_list.hpp"
#include "plan/file_domains.hpp"

namespace thalweg {

// A stretch of the file and its memory. Pieces that are neighbours in memory are one.
struct Run {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::span<const Piece> pieces;  // borrowed from the RunReader until the next call
};

// Walks the part of the lists that lies in `domain`: a merge of sorted lists, so linear in their extents there (times
// log of the number of lists). Memory: O(lists + most_pieces).
class RunReader {
 public:
  struct Limits {
    std::size_t most_pieces = 1024;                     // IOV_MAX
    std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of one transfer
  };
  RunReader(std::span<const ExtentList* const> lists, FileDomain domain, Direction direction, Limits limits);

  // The next run, or the next part of one that is over the limits; false at the end.
  bool next(Run& run);

 private:
  struct Cursor {
    const ExtentList* list;
    std::size_t at;
  };
  std::vector<Cursor> heap_;  // by offset of the extent each cursor stands at, then by list
  std::vector<Piece> pieces_;
  FileDomain domain_;
  Direction direction_;
  Limits limits_;
  std::uint64_t covered_ = 0;  // writing: the file up to here is done
};

}  // namespace thalweg
