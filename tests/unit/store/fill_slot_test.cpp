// Fill slots: every field comes back, every bit matters, and a slot holds in its place only.
#include "store/format/fill_slot.hpp"
#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

const FileIdentity kId{{1, 2, 3}, 4};
constexpr std::uint64_t kOffset = 4096 + 128;
constexpr std::uint64_t kAny = ~std::uint64_t{0};

FillSlot superblock_slot() {
  return {.bytes = rows_and_blocks(5, 77),
          .count = 9,
          .tail_seal = 0xABCD,
          .synced = true,
          .updating = true,
          .table_seal = 0x1234};
}

TEST(FillSlots, GiveBackEveryField) {
  const auto back = parse_fill(encode_fill(superblock_slot(), kId, kOffset), kId, kOffset, kAny);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->rows(), 5u);
  EXPECT_EQ(back->blocks(), 77u);
  EXPECT_EQ(back->count, 9u);
  EXPECT_EQ(back->tail_seal, 0xABCDu);
  EXPECT_TRUE(back->synced);
  EXPECT_TRUE(back->updating);
  EXPECT_EQ(back->table_seal, 0x1234u);
  const auto plain = parse_fill(encode_fill({.bytes = 7, .count = 1}, kId, kOffset), kId, kOffset, 7);
  ASSERT_TRUE(plain.has_value());
  EXPECT_FALSE(plain->synced);
  EXPECT_FALSE(plain->updating);
}

TEST(FillSlots, EveryBitMatters) {
  expect_every_bit_matters(to_bytes(encode_fill(superblock_slot(), kId, kOffset)),
                           [](ByteView bytes) { return parse_fill(bytes, kId, kOffset, kAny).has_value(); });
}

TEST(FillSlots, HoldInTheirPlaceOnly) {
  const auto bytes = encode_fill({.bytes = 7, .count = 1}, kId, kOffset);
  FileIdentity other = kId;
  other.physical = 5;
  EXPECT_FALSE(parse_fill(bytes, other, kOffset, kAny).has_value());
  EXPECT_FALSE(parse_fill(bytes, kId, kOffset + 32, kAny).has_value());
  EXPECT_FALSE(parse_fill(bytes, kId, kOffset, 6).has_value()) << "more than the capacity";
  EXPECT_FALSE(parse_fill(encode_fill({.bytes = 7}, kId, kOffset), kId, kOffset, kAny).has_value()) << "count 0";
}

TEST(FillSlots, AreWrittenInTurns) {
  EXPECT_EQ(slot_of(1), 0);
  EXPECT_EQ(slot_of(2), 1);
  EXPECT_EQ(slot_of(~std::uint64_t{0}), 0);
}

}  // namespace
}  // namespace thalweg::format
