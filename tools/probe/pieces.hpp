// The pieces of the writers that a reader needs, and their places in the array. Pure.
#pragma once

#include <functional>

#include "array.hpp"

namespace probe {

// The part of one writer.
struct Piece {
  int writer = 0;
  Block block;                // its whole block
  std::int64_t offset = 0;    // of its first element in the consecutive blocks of all ranks
  bool wanted_whole = false;  // the requested block equals this one
};
// In order of ranks; writers without a part are omitted.
std::vector<Piece> pieces_of(const Array& array, const std::vector<int>& grid, const Block& wanted);

int ranks_of(const std::vector<int>& grid);

// Reads a block from its first to its last element, in pieces of bounded memory, and passes on stretches of the array.
// `read` fills its span with the bytes of the block from the given element on.
void see_block(const Array& array, const Block& block,
               const std::function<void(std::int64_t in_block, std::span<std::byte> bytes)>& read,
               const std::function<void(std::int64_t first, std::span<const std::byte> bytes)>& see);

}  // namespace probe
