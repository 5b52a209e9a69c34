// The array: its shape and order, its division over a grid of ranks, and its bytes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace probe {

inline constexpr std::int64_t kElement = 4;  // bytes of a real

enum class Order { c, f };  // the fastest index: the last, the first

struct Array {
  std::vector<std::int64_t> shape;  // 1 to 3 dimensions, each >= 1; ragged: the rows, and their mean length
  Order order = Order::c;
  // Rows of unequal length, one behind the other. Part p of n has the rows p, p + n, ...: particles of cells, say.
  bool ragged = false;

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * kElement; }
  // Values of the dimensions from the slowest to the fastest: reversed for order f.
  std::vector<std::int64_t> turned(const std::vector<std::int64_t>& values) const;
};

// The block of one rank. A count of 0 in any dimension: empty. In a ragged array start has the part and the number of
// parts, count the elements and 1.
struct Block {
  std::vector<std::int64_t> start, count;  // elements in each dimension of the array

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * kElement; }
};

// Block of part `rank` of a grid; parts are numbered with the last dimension fastest.
Block block_of(const Array& array, const std::vector<int>& grid, int rank);
int ranks_of(const std::vector<int>& grid);

// A run of elements that is contiguous both in the memory of a block and in that of another block, or in the array.
struct Run {
  std::int64_t in_block, in_other, length;  // elements
};
using SeeRun = std::function<void(const Run&)>;
// The runs common to two blocks, in rising order. Whole neighbouring rows are one run.
void for_each_shared_run(const Array& array, const Block& block, const Block& other, const SeeRun& see);
// The runs of a block in the array.
void for_each_run(const Array& array, const Block& block, const SeeRun& see);

// The part of one writer, where it has elements of the block that a reader wants.
struct Piece {
  int writer = 0;
  Block block;              // its whole block
  std::int64_t offset = 0;  // of its first element in the consecutive blocks of all ranks
};
// In order of ranks.
std::vector<Piece> pieces_of(const Array& array, const std::vector<int>& grid, const Block& wanted);

// The bytes: element i (its place in the file, from 0) in repetition `seed` is the 32-bit real, in this machine's
// format,
//     ((i + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 modulo 2^64) >> 40,
// a whole number below 2^24, so that each is finite and exact, and neighbours, ranks and repetitions differ.
void fill(const Array& array, const Block& block, std::uint32_t seed, std::span<std::byte> memory);
// Throws std::runtime_error that names the first wrong element.
void check(const Array& array, const Block& block, std::uint32_t seed, std::span<const std::byte> memory);

}  // namespace probe
