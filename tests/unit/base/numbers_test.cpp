// Overflow-checked sums and products; little-endian numbers.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "base/checked_math.hpp"
#include "base/endian.hpp"

namespace thalweg {
namespace {

TEST(CheckedMath, SaysWhenASumDoesNotFit) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = 0;

  EXPECT_FALSE(add_overflow<std::int64_t>(kMost - 1, 1, &sum));
  EXPECT_EQ(sum, kMost);
  EXPECT_TRUE(add_overflow<std::int64_t>(kMost, 1, &sum));
  EXPECT_TRUE(add_overflow<std::int64_t>(-kMost, -2, &sum));
}

TEST(CheckedMath, SaysWhenAProductDoesNotFit) {
  std::uint64_t product = 0;

  EXPECT_FALSE(mul_overflow<std::uint64_t>(1ULL << 32U, (1ULL << 32U) - 1, &product));
  EXPECT_EQ(product, 0xFFFFFFFF00000000U);
  EXPECT_TRUE(mul_overflow<std::uint64_t>(1ULL << 32U, 1ULL << 32U, &product));
}

TEST(Endian, PutsTheLowestByteFirst) {
  std::array<std::byte, 10> bytes{};
  const auto at = std::span(bytes).subspan(1);  // unaligned

  store_le<std::uint64_t>(at, 0x0102030405060708U);

  EXPECT_EQ(bytes[1], std::byte{8});
  EXPECT_EQ(bytes[8], std::byte{1});
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[9], std::byte{0});
  EXPECT_EQ(load_le<std::uint64_t>(at), 0x0102030405060708U);
  EXPECT_EQ(load_le<std::uint16_t>(at), 0x0708U);
  EXPECT_EQ(load_le<std::uint8_t>(at), 8U);
}

}  // namespace
}  // namespace thalweg
