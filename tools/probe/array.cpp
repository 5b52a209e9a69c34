// The array, its blocks and its bytes.
//
// All places come from one loop: the runs common to two boxes, or to two parts of a ragged array. The runs of a block in
// the array are those common to the block and the whole array.
#include "array.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace probe {

namespace {

std::int64_t product(const std::vector<std::int64_t>& counts) {
  std::int64_t all = 1;
  for (const std::int64_t count : counts) all *= count;
  return all;
}

std::vector<std::size_t> slow_to_fast(std::size_t dimensions, Order order) {
  std::vector<std::size_t> out(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) out[d] = order == Order::c ? d : dimensions - 1 - d;
  return out;
}

Block whole(const Array& array) {
  if (array.ragged) return {{0, 1}, {array.elements(), 1}};
  return {std::vector<std::int64_t>(array.shape.size(), 0), array.shape};
}

// One dimension of the intersection of two boxes: a number of steps, and the distance of each step in both memories.
struct Step {
  std::int64_t count, in_first, in_second;
};

// The rows common to two boxes: start of the first, length, and steps to the others. Dimensions that both boxes have in
// full belong to the row.
struct Rows {
  std::vector<Step> steps;  // from the slowest to the fastest, without those of the row
  std::int64_t in_first = 0, in_second = 0, length = 0;

  std::int64_t count() const {
    if (length == 0) return 0;
    std::int64_t rows = 1;
    for (const Step& step : steps) rows *= step.count;
    return rows;
  }
};

Rows shared_rows(Order order, const Block& first, const Block& second) {
  Rows rows;
  const auto dimensions = slow_to_fast(first.count.size(), order);
  std::int64_t in_first = 1;
  std::int64_t in_second = 1;
  bool in_row = true;  // both boxes have all faster dimensions in full
  rows.length = 1;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    const std::size_t d = dimensions[i];
    const std::int64_t lo = std::max(first.start[d], second.start[d]);
    const std::int64_t hi = std::min(first.start[d] + first.count[d], second.start[d] + second.count[d]);
    if (hi <= lo) return {};
    rows.in_first += (lo - first.start[d]) * in_first;
    rows.in_second += (lo - second.start[d]) * in_second;
    if (in_row)
      rows.length *= hi - lo;
    else
      rows.steps.insert(rows.steps.begin(), Step{hi - lo, in_first, in_second});
    in_row = in_row && hi - lo == first.count[d] && hi - lo == second.count[d];
    in_first *= first.count[d];
    in_second *= second.count[d];
  }
  return rows;
}

// Advances to the next row. False after the last.
bool advance(const Rows& rows, std::vector<std::int64_t>& at, SharedRun& run) {
  for (std::size_t d = rows.steps.size(); d-- > 0;) {
    const Step& step = rows.steps[d];
    run.in_first += step.in_first;
    run.in_second += step.in_second;
    if (++at[d] < step.count) return true;
    run.in_first -= step.count * step.in_first;
    run.in_second -= step.count * step.in_second;
    at[d] = 0;
  }
  return false;
}

constexpr std::uint64_t kOfPlace = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kOfSeed = 0xD1B54A32D192ED03U;

// The length of a row of a ragged array. The rows 2k and 2k + 1 together have twice the mean length.
std::int64_t length_of_row(const Array& array, std::int64_t row) {
  const std::int64_t mean = array.shape[1];
  if ((row ^ 1) >= array.shape[0]) return mean;
  std::uint64_t hash = (static_cast<std::uint64_t>(row / 2) + 1) * kOfPlace;
  hash = (hash ^ hash >> 31) * kOfSeed;
  const std::int64_t less = static_cast<std::int64_t>(hash >> 33) % (mean + 1);
  return row % 2 == static_cast<std::int64_t>(hash >> 32 & 1) ? mean - less : mean + less;
}

void for_each_shared_row(const Array& array, const Block& first, const Block& second,
                         const std::function<void(const SharedRun&)>& see) {
  SharedRun run{0, 0, 0}, next{0, 0, 0};
  for (std::int64_t row = 0; row < array.shape[0]; ++row) {
    const bool in_first = row % first.start[1] == first.start[0], in_second = row % second.start[1] == second.start[0];
    next.length = length_of_row(array, row);
    if (in_first && in_second && next.length > 0) {
      if (run.length > 0 && run.in_first + run.length == next.in_first &&
          run.in_second + run.length == next.in_second) {
        run.length += next.length;
      } else {
        if (run.length > 0) see(run);
        run = next;
      }
    }
    if (in_first) next.in_first += next.length;
    if (in_second) next.in_second += next.length;
  }
  if (run.length > 0) see(run);
}
constexpr unsigned kDropped = 40;  // of 64 bits: 24 remain, the precision of a real

void make_elements(std::int64_t first, std::uint32_t seed, std::span<float> elements) {
  std::uint64_t hash = (static_cast<std::uint64_t>(first) + 1) * kOfPlace + seed * kOfSeed;
  for (float& element : elements) {
    element = static_cast<float>(static_cast<std::int32_t>(hash >> kDropped));
    hash += kOfPlace;
  }
}

[[noreturn]] void name_wrong(std::int64_t place, const std::byte* found, float right) {
  float value = 0;
  std::memcpy(&value, found, sizeof value);
  throw std::runtime_error("element " + std::to_string(place) + " of the array is " + std::to_string(value) + ", not " +
                           std::to_string(right));
}

}  // namespace

std::int64_t Array::elements() const { return product(shape); }

std::vector<std::size_t> Array::slow_to_fast() const { return probe::slow_to_fast(shape.size(), order); }

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

std::vector<int> grid_for(int ranks, std::size_t dimensions) {
  if (dimensions == 1) return {ranks};
  // The smallest divisor that can be the largest factor; the rest is cut likewise.
  std::vector<int> best;
  for (int largest = 1; largest <= ranks; ++largest) {
    if (ranks % largest != 0) continue;
    std::vector<int> rest = grid_for(ranks / largest, dimensions - 1);
    if (rest.front() > largest) continue;
    best.push_back(largest);
    best.insert(best.end(), rest.begin(), rest.end());
    break;
  }
  return best;
}

std::vector<int> grid_for(int ranks, const Array& array) {
  if (array.ragged) return {ranks, 1};
  return grid_for(ranks, array.shape.size());
}

void for_each_shared_run(const Array& array, const Block& first, const Block& second,
                         const std::function<void(const SharedRun&)>& see) {
  if (array.ragged) return for_each_shared_row(array, first, second, see);
  const Rows rows = shared_rows(array.order, first, second);
  if (rows.length == 0) return;
  std::vector<std::int64_t> at(rows.steps.size(), 0);
  SharedRun run{rows.in_first, rows.in_second, rows.length};
  do see(run);
  while (advance(rows, at, run));
}

std::int64_t count_shared_runs(const Array& array, const Block& first, const Block& second) {
  if (!array.ragged) return shared_rows(array.order, first, second).count();
  std::int64_t runs = 0;
  for_each_shared_row(array, first, second, [&](const SharedRun& /*run*/) { ++runs; });
  return runs;
}

void for_each_run(const Array& array, const Block& block, const std::function<void(const Run&)>& see) {
  for_each_shared_run(array, block, whole(array), [&](const SharedRun& run) {
    see({run.in_first, run.in_second, run.length});
  });
}

void fill(const Array& array, const Block& block, std::uint32_t seed, std::span<std::byte> memory) {
  if (std::cmp_less(memory.size(), block.bytes())) throw std::logic_error("fill: the buffer is smaller than the block");
  auto* const elements = reinterpret_cast<float*>(memory.data());
  for_each_run(array, block, [&](const Run& run) {
    make_elements(run.in_array, seed, {elements + run.in_block, static_cast<std::size_t>(run.length)});
  });
}

void check(const Array& array, const Block& block, std::uint32_t seed, std::span<const std::byte> memory) {
  if (std::cmp_less(memory.size(), block.bytes()))
    throw std::logic_error("check: the buffer is smaller than the block");
  for_each_run(array, block, [&](const Run& run) {
    check_stretch(run.in_array, seed,
                  memory.subspan(static_cast<std::size_t>(run.in_block * kElement),
                                 static_cast<std::size_t>(run.length * kElement)));
  });
}

void check_stretch(std::int64_t first, std::uint32_t seed, std::span<const std::byte> bytes) {
  std::array<float, 1024> right;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  if (bytes.size() % kElement != 0) throw std::runtime_error("a part of an element was read");
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size() / kElement, right.size());
    make_elements(first, seed, {right.data(), n});
    const auto wanted = std::as_bytes(std::span(right).first(n));
    if (std::memcmp(wanted.data(), bytes.data(), wanted.size()) != 0) {
      const auto same = std::mismatch(wanted.begin(), wanted.end(), bytes.begin()).first - wanted.begin();
      const std::size_t i = static_cast<std::size_t>(same) / kElement;
      name_wrong(first + static_cast<std::int64_t>(i), &bytes[i * kElement], right[i]);
    }
    first += static_cast<std::int64_t>(n);
    bytes = bytes.subspan(n * kElement);
  }
}

}  // namespace probe
