// Pieces of separate files, and bands of whole ones: how readers of thalweg-probe find elements, compared with brute
// force.
#include "pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "bands.hpp"

namespace probe {
namespace {

using Shape = std::vector<std::int64_t>;

std::vector<std::byte> filled(const Array& array, const Block& block) {
  std::vector<std::byte> memory(static_cast<std::size_t>(block.bytes()));
  fill(array, block, 5, memory);
  return memory;
}

// Readers of any cut find all their elements in the pieces of the writers.
TEST(MethodsPieces, TogetherTheyAreWhatIsWanted) {
  for (const Order order : {Order::c, Order::f})
    for (const std::vector<int>& writers : std::vector<std::vector<int>>{{3, 2}, {1, 5}, {8, 1}})
      for (int reader = 0; reader < 4; ++reader) {
        const Array array{{7, 6}, order};
        const Block wanted = block_of(array, {2, 2}, reader);
        std::vector<std::byte> memory(static_cast<std::size_t>(wanted.bytes()));
        for (const Piece& piece : pieces_of(array, writers, wanted)) {
          const auto content = filled(array, piece.block);
          for_each_shared_run(array, piece.block, wanted, [&](const SharedRun& run) {
            std::copy_n(content.begin() + run.in_first * kElement, run.length * kElement,
                        memory.begin() + run.in_second * kElement);
          });
        }
        EXPECT_NO_THROW(check(array, wanted, 5, memory));
      }
}

TEST(MethodsPieces, OfARaggedArrayAreWhatIsWanted) {
  const Array array{{31, 6}, Order::c, true};
  for (int reader = 0; reader < 4; ++reader) {
    const Block wanted = block_of(array, {4, 1}, reader);
    std::vector<std::byte> memory(static_cast<std::size_t>(wanted.bytes()));
    for (const Piece& piece : pieces_of(array, {6, 1}, wanted)) {
      const auto content = filled(array, piece.block);
      for_each_shared_run(array, piece.block, wanted, [&](const SharedRun& run) {
        std::copy_n(content.begin() + run.in_first * kElement, run.length * kElement,
                    memory.begin() + run.in_second * kElement);
      });
    }
    EXPECT_NO_THROW(check(array, wanted, 5, memory));
  }
}

TEST(MethodsPieces, KnowWhereTheyBeginAndWhetherTheyAreAll) {
  const Array array{{4, 6}};

  const auto pieces = pieces_of(array, {2, 2}, block_of(array, {2, 2}, 2));

  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].writer, 2);
  EXPECT_EQ(pieces[0].offset, 12);
  EXPECT_TRUE(pieces[0].wanted_whole);
  EXPECT_FALSE(pieces_of(array, {2, 2}, block_of(array, {1, 1}, 0))[0].wanted_whole);
  EXPECT_EQ(pieces_of(array, {2, 2}, {{0, 0}, {0, 0}}).size(), 0U);
}

// A block that is read in several pieces, of more than a million elements.
TEST(MethodsPieces, ABlockIsSeenWholeAndOnce) {
  for (const Order order : {Order::c, Order::f}) {
    const Array array{{1501, 1502}, order};
    for (int rank = 0; rank < 2; ++rank) {
      const Block block = block_of(array, {2, 1}, rank);
      const auto content = filled(array, block);
      std::int64_t seen = 0, read = 0;
      see_block(
          array, block,
          [&](std::int64_t at, std::span<std::byte> bytes) {
            EXPECT_EQ(at, read);
            std::copy_n(content.begin() + at * kElement, bytes.size(), bytes.begin());
            read += std::ssize(bytes) / kElement;
          },
          [&](std::int64_t first, std::span<const std::byte> bytes) {
            EXPECT_NO_THROW(check_stretch(first, 5, bytes));
            seen += std::ssize(bytes) / kElement;
          });
      EXPECT_EQ(seen, block.elements());
      EXPECT_EQ(read, block.elements());
    }
  }
}

// Elements of a band, consecutively, by the dimensions of the whole.
std::vector<std::int64_t> elements_of(const Shape& dimensions, const Band& band) {
  std::vector<std::int64_t> all = {0};
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t at : all)
      for (std::int64_t i = 0; i < band.count[d]; ++i) next.push_back(at * dimensions[d] + band.start[d] + i);
    all = next;
  }
  return all;
}

TEST(MethodsBands, CoverAnArrayInOrderWithoutExceedingTheirSize) {
  for (const Shape& dimensions : std::vector<Shape>{{1}, {7}, {5, 3}, {3, 5}, {1, 8}, {3, 4, 5}, {2, 1, 7}, {4, 3, 1}})
    for (std::int64_t most = 1; most <= 61; ++most) {
      std::vector<std::int64_t> covered;
      for_each_band(dimensions, most, [&](const Band& band) {
        const auto elements = elements_of(dimensions, band);
        EXPECT_EQ(band.first, std::ssize(covered));
        EXPECT_EQ(band.elements, std::ssize(elements));
        EXPECT_LE(band.elements, most);
        covered.insert(covered.end(), elements.begin(), elements.end());
      });
      std::vector<std::int64_t> expected(static_cast<std::size_t>(
          std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1}, std::multiplies<>())));
      std::iota(expected.begin(), expected.end(), 0);
      ASSERT_EQ(covered, expected) << "at most " << most;
    }
}

TEST(MethodsBands, AreAsLargeAsTheyMayBe) {
  int bands = 0;
  for_each_band(Shape{10, 10}, 35, [&](const Band& /*band*/) { ++bands; });
  EXPECT_EQ(bands, 4);
  for_each_band(Shape{10, 0}, 35, [&](const Band& /*band*/) { ADD_FAILURE() << "a band of nothing"; });
}

}  // namespace
}  // namespace probe
