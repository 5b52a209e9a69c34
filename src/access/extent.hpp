// Extent: one stretch of memory and the place in a file where its bytes belong. Lists of them are what every access is
// made of.
//
// Laid out as tw_extent of the C API, so that a caller's list is used where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"

namespace thalweg {

enum class Direction : std::uint8_t { read, write };

// A stretch of memory: what a transfer moves to or from one place of a file.
struct Piece {
  std::byte* memory = nullptr;  // borrowed; only read when writing
  std::uint64_t bytes = 0;
};

struct Extent {
  std::byte* memory = nullptr;  // borrowed; only read when the access writes
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of the first byte, from the start of the file
  std::uint64_t end() const { return offset + bytes; }
  bool operator==(const Extent&) const = default;
};

// Bytes of a hole that readers of a page cache go through rather than make another call.
inline constexpr std::uint64_t kCloseBy = 4096;

// What is known of a list after one pass over it. Extents of 0 bytes do not count anywhere.
struct ExtentSummary {
  std::uint64_t n = 0;       // extents
  std::uint64_t bytes = 0;   // their sum
  std::uint64_t begin = 0;   // lowest offset; 0 when n is 0
  std::uint64_t end = 0;     // highest end
  std::uint64_t runs = 0;    // maximal stretches of the list that are contiguous in the file, in list order
  std::uint64_t pieces = 0;  // the same for file and memory together: what merging neighbours leaves
  std::uint64_t stride = 0;  // distance of all neighbours when all runs are equally long and far apart, else 0
  // As runs, but going on behind holes of at most kCloseBy bytes, and with these. Of the runs at most 2^32-1, then
  // that.
  std::uint64_t close_bytes = 0;
  std::uint32_t close_runs = 0;
  bool one_in_memory = true;  // each extent begins in memory where the one before ends
  bool sorted = true;         // offsets never fall
  bool disjoint = true;       // known when sorted: no two extents have a byte in common. Not sorted: false
};

// One pass. Fails with invalid_argument (null memory) or out_of_range (an end above 2^63-1, or a sum above it),
// naming the number of the extent.
Result<ExtentSummary> summarise(std::span<const Extent> extents);

}  // namespace thalweg
