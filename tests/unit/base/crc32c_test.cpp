// CRC32C against known values, against bit-by-bit division, and chained.
#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace thalweg {
namespace {

std::uint32_t bit_by_bit(ByteView bytes) {
  std::uint32_t state = 0xFFFFFFFFu;
  for (const std::byte byte : bytes) {
    state ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78u : 0u);
  }
  return ~state;
}

std::vector<std::byte> noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(bytes);
  for (auto& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

TEST(Crc32c, GivesTheCheckValueOfTheCatalogue) {
  const char text[] = "123456789";

  EXPECT_EQ(crc32c(std::as_bytes(std::span(text, 9))), 0xE3069283u);
}

TEST(Crc32c, OfNoBytesIsWhatWasBefore) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c({}, 0x12345678u), 0x12345678u);
}

TEST(Crc32c, EqualsBitByBitDivisionForManyLengthsAndPlaces) {
  const auto bytes = noise(1100, 1);

  for (std::size_t length = 0; length < 1000; length += 1 + length / 16) {
    for (std::size_t from = 0; from < 9; ++from) {
      const ByteView part = ByteView(bytes).subspan(from, length);
      ASSERT_EQ(crc32c(part), bit_by_bit(part)) << length << " bytes from " << from;
    }
  }
}

TEST(Crc32c, OfPartsChainedIsThatOfTheWhole) {
  const auto bytes = noise(777, 2);

  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const ByteView all(bytes);
    ASSERT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace thalweg
