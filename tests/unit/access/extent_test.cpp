// Summaries of lists, and invalid lists.
#include "access/extent_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace thalweg {
namespace {

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63) - 1;
std::array<std::byte, 64> memory;

ExtentSummary summary_of(const std::vector<Extent>& extents) {
  auto found = summarise(extents);
  EXPECT_TRUE(found.has_value()) << found.status().message();
  return found.has_value() ? found.value() : ExtentSummary{};
}

TEST(Summary, OfNothingIsEmpty) {
  for (const auto& none : {std::vector<Extent>{}, std::vector<Extent>{{nullptr, 0, 5}, {memory.data(), 0, ~0ull}}}) {
    const ExtentSummary found = summary_of(none);

    EXPECT_TRUE(found.n == 0 && found.bytes == 0 && found.begin == 0 && found.end == 0);
    EXPECT_TRUE(found.runs == 0 && found.pieces == 0 && found.close_runs == 0 && found.close_bytes == 0 &&
                found.stride == 0);
    EXPECT_TRUE(found.sorted && found.disjoint);
  }
}

TEST(Summary, CountsBytesRunsAndPieces) {
  std::byte* at = memory.data();
  // One run in two pieces of memory, then a hole, then a piece that continues the memory of the first one.
  const ExtentSummary found =
      summary_of({{at, 4, 10}, {at + 4, 4, 14}, {at + 20, 2, 18}, {nullptr, 0, 0}, {at + 22, 2, 30}});

  EXPECT_EQ(found.n, 4u);
  EXPECT_EQ(found.bytes, 12u);
  EXPECT_EQ(found.begin, 10u);
  EXPECT_EQ(found.end, 32u);
  EXPECT_EQ(found.runs, 2u);
  EXPECT_EQ(found.pieces, 3u);
  EXPECT_TRUE(found.sorted && found.disjoint);
}

TEST(Summary, GoesOnBehindShortHoles) {
  std::byte* at = memory.data();
  const auto close = [&](const std::vector<Extent>& extents) {
    const ExtentSummary found = summary_of(extents);
    return std::array<std::uint64_t, 2>{found.close_runs, found.close_bytes};
  };
  const std::uint64_t far = 14 + kCloseBy + 1;

  EXPECT_EQ(close({{at, 4, 10}}), (std::array<std::uint64_t, 2>{1, 4}));
  EXPECT_EQ(close({{at, 4, 10}, {at, 4, 14}}), (std::array<std::uint64_t, 2>{1, 8}));
  EXPECT_EQ(close({{at, 4, 10}, {at, 4, far - 1}}), (std::array<std::uint64_t, 2>{1, 8 + kCloseBy}));
  EXPECT_EQ(close({{at, 4, 10}, {at, 4, far}}), (std::array<std::uint64_t, 2>{2, 8}));
  EXPECT_EQ(close({{at, 4, 10}, {at, 4, far}, {at, 4, far + 6}}), (std::array<std::uint64_t, 2>{2, 14}));
  EXPECT_EQ(close({{at, 4, 10}, {at, 4, 0}}), (std::array<std::uint64_t, 2>{2, 8}));  // not in order
}

TEST(Summary, KnowsOrderAndOverlap) {
  std::byte* at = memory.data();
  const auto order = [&](const std::vector<Extent>& extents) {
    const ExtentSummary found = summary_of(extents);
    return std::array{found.sorted, found.disjoint};
  };

  EXPECT_EQ(order({{at, 4, 0}, {at, 4, 4}}), (std::array{true, true}));
  EXPECT_EQ(order({{at, 4, 0}, {at, 4, 3}}), (std::array{true, false}));
  EXPECT_EQ(order({{at, 4, 0}, {at, 4, 0}}), (std::array{true, false}));
  EXPECT_EQ(order({{at, 9, 0}, {at, 1, 2}, {at, 1, 5}}), (std::array{true, false}));
  EXPECT_EQ(order({{at, 4, 4}, {at, 4, 0}}), (std::array{false, false}));
}

TEST(Summary, HasAStrideWhenAllRunsAreEqualAndEquallyFarApart) {
  std::byte* at = memory.data();
  const auto stride = [&](const std::vector<Extent>& extents) { return summary_of(extents).stride; };

  EXPECT_EQ(stride({{at, 4, 0}, {at, 4, 10}, {at, 4, 20}}), 10u);
  EXPECT_EQ(stride({{at, 2, 0}, {at, 2, 2}, {at, 4, 10}, {at, 1, 20}, {at, 3, 21}}), 10u);
  EXPECT_EQ(stride({{at, 4, 0}}), 0u);
  EXPECT_EQ(stride({{at, 4, 0}, {at, 4, 4}}), 0u);
  EXPECT_EQ(stride({{at, 4, 0}, {at, 4, 10}, {at, 4, 21}}), 0u);
  EXPECT_EQ(stride({{at, 4, 0}, {at, 4, 10}, {at, 3, 20}}), 0u);
  EXPECT_EQ(stride({{at, 3, 0}, {at, 4, 10}, {at, 4, 20}}), 0u);
  EXPECT_EQ(stride({{at, 4, 20}, {at, 4, 10}, {at, 4, 0}}), 0u);
}

TEST(Summary, RefusesNoMemoryButForNoBytes) {
  const auto refused = summarise(std::vector<Extent>{{nullptr, 0, 0}, {memory.data(), 1, 7}, {nullptr, 3, 9}});

  EXPECT_EQ(refused.status().code(), Code::invalid_argument);
  EXPECT_NE(refused.status().message().find("extent 2 (3 bytes at offset 9)"), std::string::npos)
      << refused.status().message();
}

TEST(Summary, ReachesTheLargestOffsetAndNotBeyond) {
  std::byte* at = memory.data();
  const auto code = [](const std::vector<Extent>& extents) { return summarise(extents).status().code(); };

  EXPECT_EQ(code({{at, 1, kLargest - 1}}), Code::ok);
  EXPECT_EQ(code({{at, kLargest, 0}}), Code::ok);
  EXPECT_EQ(code({{at, 1, kLargest}}), Code::out_of_range);
  EXPECT_EQ(code({{at, 2, kLargest - 1}}), Code::out_of_range);
  EXPECT_EQ(code({{at, kLargest, 1}}), Code::out_of_range);
  EXPECT_EQ(code({{at, kLargest + 1, 0}}), Code::out_of_range);
  EXPECT_EQ(code({{at, 1, ~0ull}}), Code::out_of_range);
  EXPECT_EQ(code({{at, ~0ull, 1}}), Code::out_of_range);
  EXPECT_EQ(code({{at, ~0ull, ~0ull}}), Code::out_of_range);
}

TEST(Summary, RefusesMoreBytesInAllThanAFileCanHold) {
  std::byte* at = memory.data();
  const std::uint64_t half = kLargest / 2;

  EXPECT_EQ(summarise(std::vector<Extent>{{at, half, 0}, {at, half + 1, 0}}).status().code(), Code::ok);
  const auto refused = summarise(std::vector<Extent>{{at, half, 0}, {at, half + 1, 0}, {at, 1, 0}});

  EXPECT_EQ(refused.status().code(), Code::out_of_range);
  EXPECT_NE(refused.status().message().find("extent 2"), std::string::npos);
  EXPECT_NE(refused.status().message().find("2^63-1"), std::string::npos);
}

}  // namespace
}  // namespace thalweg
