// Later pieces hide earlier ones, as an array of bytes that are painted over tells.
#include "store/overlay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace thalweg {
namespace {

constexpr std::uint32_t kNothing = ~0u;

std::vector<std::uint32_t> seen(const Overlay& shown, std::size_t bytes) {
  std::vector<std::uint32_t> all(bytes, kNothing);
  std::uint64_t end = 0;
  for (const auto& [begin, span] : shown) {
    EXPECT_EQ(begin, span.begin);
    EXPECT_GE(span.begin, end) << "without overlap";
    EXPECT_LT(span.begin, span.end);
    end = span.end;
    std::fill(&all[span.begin], &all[span.begin] + (span.end - span.begin), span.piece);
  }
  return all;
}

TEST(Overlay, ShowsWhatWasPutLast) {
  constexpr std::size_t kBytes = 40;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Overlay shown;
    std::vector<std::uint32_t> expected(kBytes, kNothing);
    for (std::uint32_t piece = 0; piece < 12; ++piece) {
      const std::uint64_t begin = random() % kBytes, end = begin + 1 + random() % (kBytes - begin);
      put_over(shown, {begin, end, piece});
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                expected.begin() + static_cast<std::ptrdiff_t>(end), piece);
      ASSERT_EQ(seen(shown, kBytes), expected) << "round " << round << ", piece " << piece;
    }
  }
}

TEST(Overlay, CutsAPieceInTwo) {
  Overlay shown;
  put_over(shown, {10, 50, 0});
  put_over(shown, {20, 30, 1});
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown.at(10).end, 20u);
  EXPECT_EQ(shown.at(20).piece, 1u);
  EXPECT_EQ(shown.at(30).end, 50u);
  EXPECT_EQ(shown.at(30).piece, 0u);
}

}  // namespace
}  // namespace thalweg
