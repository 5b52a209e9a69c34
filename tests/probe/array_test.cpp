// The array of thalweg-probe: blocks, runs and contents against brute force, for all small shapes and grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"

namespace probe {
namespace {

using Shape = std::vector<std::int64_t>;
using Grid = std::vector<int>;

const std::array kOrders = {Order::c, Order::f};

std::string text(const Array& array, const Grid& grid) {
  std::string out = array.order == Order::c ? "c" : "f";
  for (const std::int64_t extent : array.shape) out += " " + std::to_string(extent);
  out += " over";
  for (const int parts : grid) out += " " + std::to_string(parts);
  return out;
}

int product(const Grid& grid) { return std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>()); }

// Every shape and grid of 1 to 3 small dimensions, including more parts than elements.
void for_all(const std::function<void(const Array&, const Grid&)>& see) {
  const std::vector<std::pair<Shape, std::vector<Grid>>> cases = {
      {{1}, {{1}, {3}}},
      {{7}, {{1}, {2}, {5}, {9}}},
      {{7, 5}, {{1, 1}, {1, 3}, {3, 2}, {5, 1}, {2, 2}, {8, 1}, {3, 6}}},
      {{2, 1}, {{2, 2}, {1, 5}, {3, 1}}},
      {{6, 4}, {{1, 2}, {2, 1}, {3, 4}}},
      {{3, 4, 5}, {{1, 1, 1}, {2, 1, 2}, {1, 3, 2}, {4, 1, 1}, {1, 1, 6}, {2, 2, 2}}},
      {{1, 5, 1}, {{1, 3, 1}, {2, 2, 2}}},
  };
  for (const auto& [shape, grids] : cases)
    for (const Grid& grid : grids)
      for (const Order order : kOrders) {
        SCOPED_TRACE(text({shape, order}, grid));
        see({shape, order}, grid);
      }
}

// Dimensions from the slowest to the fastest.
std::vector<std::size_t> slow_to_fast(const Array& array) {
  std::vector<std::size_t> out(array.shape.size());
  std::iota(out.begin(), out.end(), 0);
  if (array.order == Order::f) std::ranges::reverse(out);
  return out;
}

// Place of an index in a box of this shape.
std::int64_t place(const Array& array, const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (const std::size_t d : slow_to_fast(array)) at = at * shape[d] + index[d];
  return at;
}

// All indices of a box, in the order of its memory.
std::vector<Shape> indices(const Array& array, const Block& block) {
  std::vector<Shape> all(static_cast<std::size_t>(block.elements()));
  for (std::int64_t at = 0; at < block.elements(); ++at) {
    Shape index(block.count.size());
    std::int64_t rest = at;
    const auto order = slow_to_fast(array);
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      index[*d] = block.start[*d] + rest % block.count[*d];
      rest /= block.count[*d];
    }
    all[static_cast<std::size_t>(at)] = index;
  }
  return all;
}

// Places in the array of the elements of a block, in the order of its memory.
std::vector<std::int64_t> places(const Array& array, const Block& block) {
  std::vector<std::int64_t> out;
  for (const Shape& index : indices(array, block)) out.push_back(place(array, array.shape, index));
  return out;
}

TEST(MethodsArray, BlocksHaveEveryElementOnce) {
  for_all([](const Array& array, const Grid& grid) {
    std::vector<int> owners(static_cast<std::size_t>(array.elements()), 0);
    for (int rank = 0; rank < product(grid); ++rank)
      for (const std::int64_t at : places(array, block_of(array, grid, rank))) ++owners[static_cast<std::size_t>(at)];
    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
  });
}

TEST(MethodsArray, PartsAreCountedWithTheLastDimensionFastest) {
  const Array array{{7, 5}, Order::f};

  const Block block = block_of(array, {3, 2}, 3);  // part 1 of 3, part 1 of 2

  EXPECT_EQ(block.start, (Shape{2, 2}));
  EXPECT_EQ(block.count, (Shape{2, 3}));
}

TEST(MethodsArray, ExtentsOfPartsDifferByOneAtMost) {
  for (std::int64_t extent = 1; extent <= 40; ++extent)
    for (int parts = 1; parts <= 12; ++parts)
      for (int part = 0; part < parts; ++part) {
        const std::int64_t count = block_of({{extent}}, {parts}, part).count[0];
        EXPECT_GE(count, extent / parts);
        EXPECT_LE(count, (extent + parts - 1) / parts);
      }
}

// Runs by brute force: maximal sequences of consecutive places.
std::vector<Run> expected_runs(const Array& array, const Block& block) {
  std::vector<Run> runs;
  std::int64_t in_block = 0;
  for (const std::int64_t at : places(array, block)) {
    if (!runs.empty() && runs.back().in_other + runs.back().length == at)
      ++runs.back().length;
    else
      runs.push_back({in_block, at, 1});
    ++in_block;
  }
  return runs;
}

TEST(MethodsArray, RunsAreThoseOfBruteForce) {
  for_all([](const Array& array, const Grid& grid) {
    for (int rank = 0; rank < product(grid); ++rank) {
      const Block block = block_of(array, grid, rank);
      std::vector<std::array<std::int64_t, 3>> got, expected;
      for_each_run(array, block, [&](const auto& run) { got.push_back({run.in_block, run.in_other, run.length}); });
      for (const auto& run : expected_runs(array, block)) expected.push_back({run.in_block, run.in_other, run.length});
      EXPECT_EQ(got, expected);
    }
  });
}

// Elements of both blocks, by their places in the memory of each.
std::vector<std::array<std::int64_t, 2>> expected_shared(const Array& array, const Block& first, const Block& second) {
  const auto theirs = places(array, second), mine = places(array, first);
  std::vector<std::array<std::int64_t, 2>> pairs;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto found = std::ranges::find(theirs, mine[i]);
    if (found != theirs.end()) pairs.push_back({static_cast<std::int64_t>(i), found - theirs.begin()});
  }
  return pairs;
}

TEST(MethodsArray, SharedRunsAreThoseOfBruteForce) {
  for_all([](const Array& array, const Grid& grid) {
    Grid other(array.shape.size(), 1);
    other.back() = 3;
    for (int rank = 0; rank < product(grid) * 3; ++rank) {
      const Block first = block_of(array, grid, rank / 3), second = block_of(array, other, rank % 3);
      std::vector<std::array<std::int64_t, 2>> got;
      for_each_shared_run(array, first, second, [&](const auto& run) {
        for (std::int64_t i = 0; i < run.length; ++i) got.push_back({run.in_block + i, run.in_other + i});
      });
      EXPECT_EQ(got, expected_shared(array, first, second));
    }
  });
}

// Parts of ragged arrays: rows and mean length, number of parts.
void for_all_ragged(const std::function<void(const Array&, int parts)>& see) {
  for (const Shape& shape : std::vector<Shape>{{1, 5}, {2, 1}, {7, 3}, {40, 8}})
    for (const int parts : {1, 2, 3, 50}) {
      const Array array{shape, Order::c, true};
      SCOPED_TRACE(text(array, {parts, 1}));
      see(array, parts);
    }
}

TEST(MethodsArray, PartsOfRaggedArraysHaveEveryElementOnceInMaximalRuns) {
  for_all_ragged([](const Array& array, int parts) {
    std::vector<int> owners(static_cast<std::size_t>(array.elements()), 0);
    for (int rank = 0; rank < parts; ++rank) {
      const Block block = block_of(array, {parts, 1}, rank);
      std::int64_t next = 0, behind = -1;
      for_each_run(array, block, [&](const auto& run) {
        EXPECT_EQ(run.in_block, next);
        EXPECT_GT(run.in_other, behind);
        next += run.length;
        behind = run.in_other + run.length;
        for (std::int64_t at = run.in_other; at < behind; ++at) ++owners[static_cast<std::size_t>(at)];
      });
      EXPECT_EQ(next, block.elements());
    }
    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
  });
}

TEST(MethodsArray, SharedRunsOfRaggedPartsAreAtTheSamePlaces) {
  for_all_ragged([](const Array& array, int parts) {
    for (int rank = 0; rank < parts * 3; ++rank) {
      const Block first = block_of(array, {parts, 1}, rank / 3), second = block_of(array, {3, 1}, rank % 3);
      std::map<std::int64_t, std::int64_t> mine, theirs;  // by the place in the array
      for (auto& [block, at] :
           std::vector<std::pair<Block, std::map<std::int64_t, std::int64_t>*>>{{first, &mine}, {second, &theirs}})
        for_each_run(array, block, [at = at](const auto& run) {
          for (std::int64_t i = 0; i < run.length; ++i) (*at)[run.in_other + i] = run.in_block + i;
        });
      std::vector<std::array<std::int64_t, 2>> wanted, got;
      for (const auto& [place, in_first] : mine)
        if (const auto found = theirs.find(place); found != theirs.end()) wanted.push_back({in_first, found->second});
      for_each_shared_run(array, first, second, [&](const auto& run) {
        for (std::int64_t i = 0; i < run.length; ++i) got.push_back({run.in_block + i, run.in_other + i});
      });
      EXPECT_EQ(got, wanted);
    }
  });
}

// So that scaling is not that of one heavy rank.
TEST(MethodsArray, PartsOfALargeRaggedArrayAreAboutEqual) {
  const Array array{{2048, 2048}, Order::c, true};
  for (const int parts : {2, 3, 4, 8})
    for (int rank = 0; rank < parts; ++rank) {
      const double share = static_cast<double>(block_of(array, {parts, 1}, rank).elements() * parts);
      EXPECT_NEAR(share / static_cast<double>(array.elements()), 1, 0.1) << rank << " of " << parts;
    }
}

TEST(MethodsArray, RowsOfRaggedArraysDifferAndHaveTheMeanLength) {
  const Array array{{41, 8}, Order::c, true};
  std::map<std::int64_t, int> lengths;
  std::int64_t all = 0;
  for (int row = 0; row < 41; ++row) {
    const std::int64_t length = block_of(array, {41, 1}, row).elements();
    EXPECT_GE(length, 0);
    EXPECT_LE(length, 16);
    all += length;
    ++lengths[length];
  }
  EXPECT_EQ(all, array.elements());
  EXPECT_GT(lengths.size(), 8U);
}

std::vector<std::byte> filled(const Array& array, const Block& block, std::uint32_t seed) {
  std::vector<std::byte> memory(static_cast<std::size_t>(block.bytes()));
  fill(array, block, seed, memory);
  return memory;
}

float expected_element(std::int64_t at, std::uint32_t seed) {
  const std::uint64_t hash = (static_cast<std::uint64_t>(at) + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
  return static_cast<float>(hash >> 40U);
}

TEST(MethodsArray, ElementsAreMadeOfTheirPlaceAndTheSeed) {
  for_all([](const Array& array, const Grid& grid) {
    for (int rank = 0; rank < product(grid); ++rank) {
      const Block block = block_of(array, grid, rank);
      const auto memory = filled(array, block, 77);
      std::size_t i = 0;
      for (const std::int64_t at : places(array, block)) {
        float element = 0;
        std::memcpy(&element, &memory[i++ * sizeof element], sizeof element);
        ASSERT_EQ(element, expected_element(at, 77));
      }
      EXPECT_NO_THROW(check(array, block, 77, memory));
    }
  });
}

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MethodsArray, OneWrongByteAnywhereIsNoticedAndNamed) {
  for (const Order order : kOrders) {
    const Array array{{5, 7}, order};
    const Block block = block_of(array, {2, 2}, 3);
    const auto at = places(array, block);
    auto memory = filled(array, block, 1);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::byte right = std::exchange(memory[i], memory[i] ^ std::byte{1});
      const std::string message = complaint([&] { check(array, block, 1, memory); });
      EXPECT_NE(message.find("element " + std::to_string(at[i / 4]) + " "), std::string::npos) << message;
      memory[i] = right;
    }
  }
}

TEST(MethodsArray, ContentsOfAnotherRepetitionOrPlaceAreNoticed) {
  const Array array{{64}};
  const Block block = block_of(array, {1}, 0);
  const auto memory = filled(array, block, 1);

  EXPECT_NE(complaint([&] { check(array, block, 2, memory); }), "");
  EXPECT_EQ(complaint([&] { check(array, block, 1, memory); }), "");
  EXPECT_NE(complaint([&] { check(array, block, 1, std::vector<std::byte>(256)); }), "");
}

// Longer than one check; also at the last element.
TEST(MethodsArray, TheEndOfALongStretchIsChecked) {
  const Array array{{5000}};
  const Block block = block_of(array, {1}, 0);
  auto memory = filled(array, block, 9);
  memory.back() ^= std::byte{0x80};

  const std::string message = complaint([&] { check(array, block, 9, memory); });

  EXPECT_NE(message.find("element 4999 "), std::string::npos) << message;
}

}  // namespace
}  // namespace probe
