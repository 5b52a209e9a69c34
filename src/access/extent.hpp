// Extent: a piece of memory and its place in a file. Every access is a list of them.
//
// The layout is that of tw_extent in the C API, so that a caller's list is used in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/piece.hpp"

namespace thalweg {

struct Extent {
  std::byte* memory = nullptr;  // borrowed; only read when the access writes
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of the first byte, from the start of the file
  std::uint64_t end() const { return offset + bytes; }
  bool operator==(const Extent&) const = default;
};

}  // namespace thalweg
