// Who wrote what a reader wants, and how the contents of separate pieces become places in the array. Pure.
#pragma once

#include <functional>

#include "array.hpp"

namespace methods {

// What one of those who wrote has of what is wanted.
struct Piece {
  int writer = 0;
  Block block;                // all that it wrote
  std::int64_t offset = 0;    // of its first element, where the blocks of all ranks lie one behind the other
  bool wanted_whole = false;  // the block that is wanted is this one
};
// In order of ranks; only of those who have something of it.
std::vector<Piece> pieces_of(const Array& array, const std::vector<int>& grid, const Block& wanted);

// Elements before the block of `rank`, where the blocks of all ranks lie one behind the other.
std::int64_t elements_before(const Array& array, const std::vector<int>& grid, int rank);
int ranks_of(const std::vector<int>& grid);

// Gives a block that is read from its first element to its last, in pieces of bounded memory, as stretches of the
// array. `read` fills its span with the bytes of the block from that element on.
void see_block(const Array& array, const Block& block,
               const std::function<void(std::int64_t in_block, std::span<std::byte> bytes)>& read,
               const std::function<void(std::int64_t first, std::span<const std::byte> bytes)>& see);

}  // namespace methods
