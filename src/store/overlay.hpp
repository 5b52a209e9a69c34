// Pieces of a stream that hide earlier ones where they overlap.
#pragma once

#include <cstdint>
#include <map>

namespace thalweg {

// Bytes, or blocks, begin .. end-1 of a stream, which a piece shows.
struct PieceSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t piece = 0;
};
using Overlay = std::map<std::uint64_t, PieceSpan>;  // by begin, without overlap

// Puts a piece over the others.
void put_over(Overlay& shown, const PieceSpan& span);

}  // namespace thalweg
