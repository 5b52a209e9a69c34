// The array that is written: its shape and order, how it is cut over a grid of ranks, and which bytes it has. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace methods {

inline constexpr std::int64_t kElement = 4;  // bytes: a real

enum class Order { c, f };  // which index changes fastest: the last, the first

struct Array {
  std::vector<std::int64_t> shape;  // 1 to 3 dimensions, each >= 1
  Order order = Order::c;

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * kElement; }
  // Dimensions from the slowest to the fastest: shape as it is, or turned round.
  std::vector<std::size_t> slow_to_fast() const;
};

// What one rank has. A count of 0 in any dimension: nothing.
struct Block {
  std::vector<std::int64_t> start, count;  // elements in each dimension of the array

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * kElement; }
};

// Block of part `rank` of a grid whose parts are counted with the last dimension fastest.
Block block_of(const Array& array, const std::vector<int>& grid, int rank);
// The parts of `ranks` for the dimensions of an array, as MPI_Dims_create would: as equal as possible, larger ones
// first.
std::vector<int> grid_for(int ranks, std::size_t dimensions);

// One run of elements that lie one behind the other both in the block's memory and in the array.
struct Run {
  std::int64_t in_block, in_array, length;  // elements
};
// In rising order. Whole neighbouring rows are one run.
void for_each_run(const Array& array, const Block& block, const std::function<void(const Run&)>& see);
std::int64_t count_runs(const Array& array, const Block& block);

// One run of elements that two blocks of an array have in common, and that lie one behind the other in the memory of
// both.
struct SharedRun {
  std::int64_t in_first, in_second, length;  // elements
};
// In rising order of both.
void for_each_shared_run(Order order, const Block& first, const Block& second,
                         const std::function<void(const SharedRun&)>& see);
std::int64_t count_shared_runs(Order order, const Block& first, const Block& second);

// The bytes: element i (its place in the file that is the array, from 0) in repetition `seed` is the 32-bit real, as
// this machine stores it,
//     ((i + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 modulo 2^64) >> 40,
// a whole number below 2^24, so that each is finite and exact, and neighbours, ranks and repetitions differ.
void fill(const Array& array, const Block& block, std::uint32_t seed, std::span<std::byte> memory);
// Throws std::runtime_error that names the first wrong element.
void check(const Array& array, const Block& block, std::uint32_t seed, std::span<const std::byte> memory);
// The same for elements of the array from `first` on.
void check_stretch(std::int64_t first, std::uint32_t seed, std::span<const std::byte> bytes);

}  // namespace methods
