// Pieces of separate files: how readers of thalweg-probe find elements, compared with brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "array.hpp"

namespace probe {
namespace {

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
          for_each_shared_run(array, piece.block, wanted, [&](const auto& run) {
            std::copy_n(content.begin() + run.in_block * kElement, run.length * kElement,
                        memory.begin() + run.in_other * kElement);
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
      for_each_shared_run(array, piece.block, wanted, [&](const auto& run) {
        std::copy_n(content.begin() + run.in_block * kElement, run.length * kElement,
                    memory.begin() + run.in_other * kElement);
      });
    }
    EXPECT_NO_THROW(check(array, wanted, 5, memory));
  }
}

TEST(MethodsPieces, KnowWhereTheyBegin) {
  const Array array{{4, 6}};

  const auto pieces = pieces_of(array, {2, 2}, block_of(array, {2, 2}, 2));

  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].writer, 2);
  EXPECT_EQ(pieces[0].offset, 12);
  EXPECT_EQ(pieces_of(array, {2, 2}, {{0, 0}, {0, 0}}).size(), 0U);
}

}  // namespace
}  // namespace probe
