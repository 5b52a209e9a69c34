// The array, its blocks and its bytes.
//
// All places come from one loop: the runs common to two boxes, or to two parts of a ragged array. The runs of a block in
// the array are those common to the block and the whole array.
#include "array.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace probe {

namespace {

std::int64_t product(const auto& counts) {
  return std::reduce(counts.begin(), counts.end(), std::int64_t{1}, std::multiplies<std::int64_t>());
}

Block whole(const Array& array) {
  if (array.ragged) return {{0, 1}, {array.elements(), 1}};
  return {std::vector<std::int64_t>(array.shape.size(), 0), array.shape};
}

// One dimension of the intersection of two boxes: a number of steps, and the distance of each step in both memories.
struct Steps {
  std::int64_t count, in_block, in_other;
};

// The rows from `row` on, by the steps from the slowest to the fastest dimension.
void for_each_row(std::span<const Steps> steps, Run row, const SeeRun& see) {
  if (steps.empty()) return see(row);
  for (std::int64_t i = 0; i < steps.front().count; ++i) {
    for_each_row(steps.subspan(1), row, see);
    row.in_block += steps.front().in_block;
    row.in_other += steps.front().in_other;
  }
}

constexpr std::uint64_t kOfPlace = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kOfSeed = 0xD1B54A32D192ED03U;
constexpr unsigned kDropped = 40;  // of 64 bits: 24 remain, the precision of a real

// The length of a row of a ragged array. The rows 2k and 2k + 1 together have twice the mean length.
std::int64_t length_of_row(const Array& array, std::int64_t row) {
  const std::int64_t mean = array.shape[1];
  if ((row ^ 1) >= array.shape[0]) return mean;
  std::uint64_t hash = (static_cast<std::uint64_t>(row / 2) + 1) * kOfPlace;
  hash = (hash ^ hash >> 31) * kOfSeed;
  const std::int64_t less = static_cast<std::int64_t>(hash >> 33) % (mean + 1);
  return row % 2 == static_cast<std::int64_t>(hash >> 32 & 1) ? mean - less : mean + less;
}

void for_each_shared_row(const Array& array, const Block& block, const Block& other, const SeeRun& see) {
  Run run{0, 0, 0}, next{0, 0, 0};
  for (std::int64_t row = 0; row < array.shape[0]; ++row) {
    const bool in_block = row % block.start[1] == block.start[0], in_other = row % other.start[1] == other.start[0];
    next.length = length_of_row(array, row);
    if (in_block && in_other && next.length > 0) {
      if (run.length > 0 && run.in_block + run.length == next.in_block && run.in_other + run.length == next.in_other) {
        run.length += next.length;
      } else {
        if (run.length > 0) see(run);
        run = next;
      }
    }
    if (in_block) next.in_block += next.length;
    if (in_other) next.in_other += next.length;
  }
  if (run.length > 0) see(run);
}

// Calls see(at, place, element) for each element of a block: where it is in the memory of the block and in the array, and
// what it has to be.
template <typename See>
void for_each_element(const Array& array, const Block& block, std::uint32_t seed, See see) {
  for_each_run(array, block, [&](const Run& run) {
    std::uint64_t hash = (static_cast<std::uint64_t>(run.in_other) + 1) * kOfPlace + seed * kOfSeed;
    for (std::int64_t i = 0; i < run.length; ++i, hash += kOfPlace)
      see(run.in_block + i, run.in_other + i, static_cast<float>(static_cast<std::int32_t>(hash >> kDropped)));
  });
}

}  // namespace

std::int64_t Array::elements() const { return product(shape); }

std::vector<std::int64_t> Array::turned(const std::vector<std::int64_t>& values) const {
  return order == Order::c ? values : std::vector<std::int64_t>(values.rbegin(), values.rend());
}

std::int64_t Block::elements() const { return product(count); }

Block block_of(const Array& array, const std::vector<int>& grid, int rank) {
  Block block;
  if (array.ragged) {
    block = {{rank, grid[0]}, {0, 1}};
    for (std::int64_t row = rank; row < array.shape[0]; row += grid[0]) block.count[0] += length_of_row(array, row);
    return block;
  }
  block.start.resize(grid.size());
  block.count.resize(grid.size());
  for (std::size_t d = grid.size(); d-- > 0;) {
    const std::int64_t part = rank % grid[d];
    rank /= grid[d];
    block.start[d] = array.shape[d] * part / grid[d];
    block.count[d] = array.shape[d] * (part + 1) / grid[d] - block.start[d];
  }
  return block;
}

int ranks_of(const std::vector<int>& grid) { return static_cast<int>(product(grid)); }

void for_each_shared_run(const Array& array, const Block& block, const Block& other, const SeeRun& see) {
  if (array.ragged) return for_each_shared_row(array, block, other, see);
  std::vector<Steps> steps;  // from the slowest to the fastest dimension, without those of the row
  Run row{0, 0, 1};
  Steps step{1, 1, 1};  // of the dimension; the count is not used
  bool in_row = true;   // both boxes have all faster dimensions in full
  for (std::size_t i = 0; i < block.count.size(); ++i) {
    const std::size_t d = array.order == Order::f ? i : block.count.size() - 1 - i;  // from the fastest on
    const std::int64_t lo = std::max(block.start[d], other.start[d]);
    const std::int64_t hi = std::min(block.start[d] + block.count[d], other.start[d] + other.count[d]);
    if (hi <= lo) return;
    row.in_block += (lo - block.start[d]) * step.in_block;
    row.in_other += (lo - other.start[d]) * step.in_other;
    if (in_row)
      row.length *= hi - lo;
    else
      steps.insert(steps.begin(), {hi - lo, step.in_block, step.in_other});
    in_row = in_row && hi - lo == block.count[d] && hi - lo == other.count[d];
    step.in_block *= block.count[d];
    step.in_other *= other.count[d];
  }
  for_each_row(steps, row, see);
}

void for_each_run(const Array& array, const Block& block, const SeeRun& see) {
  for_each_shared_run(array, block, whole(array), see);
}

std::vector<Piece> pieces_of(const Array& array, const std::vector<int>& grid, const Block& wanted) {
  std::vector<Piece> pieces;
  std::int64_t offset = 0;
  for (int writer = 0; writer < ranks_of(grid); ++writer) {
    const Block block = block_of(array, grid, writer);
    bool has_some = false;
    for_each_shared_run(array, block, wanted, [&](const Run& /*run*/) { has_some = true; });
    if (has_some) pieces.push_back({writer, block, offset});
    offset += block.elements();
  }
  return pieces;
}

void fill(const Array& array, const Block& block, std::uint32_t seed, std::span<std::byte> memory) {
  auto* const elements = reinterpret_cast<float*>(memory.data());
  for_each_element(array, block, seed, [&](auto at, auto /*place*/, float element) { elements[at] = element; });
}

void check(const Array& array, const Block& block, std::uint32_t seed, std::span<const std::byte> memory) {
  const auto* const found = reinterpret_cast<const float*>(memory.data());
  for_each_element(array, block, seed, [&](auto at, auto place, float element) {
    if (std::bit_cast<std::uint32_t>(found[at]) != std::bit_cast<std::uint32_t>(element))
      throw std::runtime_error("element " + std::to_string(place) + " of the array is " + std::to_string(found[at]) +
                               ", not " + std::to_string(element));
  });
}

}  // namespace probe
