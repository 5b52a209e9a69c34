// Runs: the bytes that one worker moves, in file order. A run is a range of the file without a hole, and the pieces of
// memory that make it up; extents of any tasks that touch in the file become one run.
//
// For writing, where extents overlap each byte of the file is taken from one of them (the later one starts where the
// earlier one ended). For reading every extent gets its bytes: an overlap begins a new run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/plan/file_domains.hpp"

namespace thalweg {

// Pieces that are neighbours in memory are one.
struct Run {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::span<const Piece> pieces;  // borrowed from the RunReader until the next call
};

// Walks the part of the lists that lies in `domain`: a merge of sorted lists, so linear in their extents there. As long
// as one list comes before all others it is walked alone; a change to another one costs log of the number of lists.
// The offsets of runs never fall. Memory: O(lists + most_pieces), and when reading an entry for each extent that a
// limit cut in two and that overlaps what follows.
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
  // A place in a list. The lowest is next: by `from`, then by the order of the lists.
  struct Cursor {
    const Extent* at;
    const Extent* end;   // behind the last extent that begins in the domain
    std::uint64_t from;  // the rest of *at begins here, or later where the domain does, or an overlap ends
    std::size_t list;
    bool comes_after(const Cursor& other) const { return from != other.from ? from > other.from : list > other.list; }
  };
  bool take(Run& run);
  void cut(std::uint64_t at);
  void step();
  void swap_with_front();

  Cursor current_{};          // at == end: nothing is left
  std::vector<Cursor> heap_;  // of the other lists, the next one in front
  std::vector<Piece> pieces_;
  FileDomain domain_;
  Direction direction_;
  Limits limits_;
  std::uint64_t done_ = 0;  // bytes below this lie before the domain, or (writing) are in a run already
};

}  // namespace thalweg
