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
  // Dimensions from the slowest to the fastest: shape, reversed for order f.
  std::vector<std::size_t> slow_to_fast() const;
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
// The grid of `ranks` parts for an array, as MPI_Dims_create computes it: as even as possible, larger factors first.
std::vector<int> grid_for(int ranks, std::size_t dimensions);
std::vector<int> grid_for(int ranks, const Array& array);

// A run of elements that is contiguous both in the block's memory and in the array.
struct Run {
  std::int64_t in_block, in_array, length;  // elements
};
// In rising order. Whole neighbouring rows are one run.
void for_each_run(const Array& array, const Block& block, const std::function<void(const Run&)>& see);

// A run of elements common to two blocks of an array, contiguous in the memory of both.
struct SharedRun {
  std::int64_t in_first, in_second, length;  // elements
};
// In rising order of both.
void for_each_shared_run(const Array& array, const Block& first, const Block& second,
                         const std::function<void(const SharedRun&)>& see);
std::int64_t count_shared_runs(const Array& array, const Block& first, const Block& second);

// The bytes: element i (its place in the file, from 0) in repetition `seed` is the 32-bit real, in this machine's
// format,
//     ((i + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 modulo 2^64) >> 40,
// a whole number below 2^24, so that each is finite and exact, and neighbours, ranks and repetitions differ.
void fill(const Array& array, const Block& block, std::uint32_t seed, std::span<std::byte> memory);
// Throws std::runtime_error that names the first wrong element.
void check(const Array& array, const Block& block, std::uint32_t seed, std::span<const std::byte> memory);
// Checks elements of the array from `first` on.
void check_stretch(std::int64_t first, std::uint32_t seed, std::span<const std::byte> bytes);

}  // namespace probe
