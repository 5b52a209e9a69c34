// Data of chunks written into blocks that are reserved first.
#include "multifile/write/physical_writer.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <vector>

#include "sim/memory_backend.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg {
namespace {

constexpr std::size_t kLarge = 1 << 20;
constexpr std::size_t kSmall = 64 << 10;

class Reserving : public testing::Test {
 protected:
  // Calls of one kind, as (offset, bytes).
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Ranges calls_of(CallKind kind) const {
    Ranges ranges;
    for (const CallRecord& call : storage_->records())
      if (call.kind == kind) ranges.emplace_back(call.offset, call.bytes);
    return ranges;
  }
  std::unique_ptr<PhysicalWriter> writer(bool reserves) {
    DomainShare share;
    share.layout.domain_bytes = share.layout.round_bytes = 16 << 20;
    WriteCommon common;
    common.reserves = reserves;
    return std::make_unique<PhysicalWriter>(storage_->open("data", OpenMode::create).value(), format::FileHeader{},
                                            share, common);
  }

  std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend(), {.record = true});
  const std::vector<std::byte> data_ = std::vector<std::byte>(kLarge, std::byte{7});
};

TEST_F(Reserving, TakesJustTheBlocksOfALargeWriteBeforeIt) {
  const auto file = writer(true);
  EXPECT_TRUE(file->write_data(8192, data_).ok());
  EXPECT_TRUE(file->write_data(2 * kLarge, ByteView(data_).first(kSmall)).ok());
  EXPECT_EQ(calls_of(CallKind::preallocate), (Ranges{{8192, kLarge}}));
  EXPECT_EQ(calls_of(CallKind::write), (Ranges{{8192, kLarge}, {2 * kLarge, kSmall}}));
}

TEST_F(Reserving, IsLeftOutWhereItGainsNothing) {
  EXPECT_TRUE(writer(false)->write_data(8192, data_).ok());
  EXPECT_TRUE(calls_of(CallKind::preallocate).empty());
}

TEST_F(Reserving, FailsWithoutHarm) {
  storage_->restart({.rules = {{.kind = CallKind::preallocate, .lasting = true, .os_errno = ENOSPC}}, .record = true});
  EXPECT_TRUE(writer(true)->write_data(8192, data_).ok());
  EXPECT_EQ(calls_of(CallKind::write), (Ranges{{8192, kLarge}}));
}

// Wherever a chunk begins in its logical file, and however much of a slab is left.
TEST(PlaceChunk, BoundariesOfTheFileAreThoseOfTheLogicalFile) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto storage = make_memory_backend();
    format::FileHeader header;
    header.alignment = std::uint32_t{512} << random() % 8;
    DomainShare share;
    share.layout.domain_bytes = share.layout.round_bytes = std::uint64_t{640 << 10};
    share.layout.data_start = 65536;
    share.layout.rounds_per_doubling = 1;
    share.layout.most_doublings = 12;
    PhysicalWriter file(storage->open("data", OpenMode::create).value(), header, share, WriteCommon{});
    std::uint64_t end = 65536;
    for (int i = 0; i < 40; ++i) {
      format::Frame asked;
      asked.logical_offset = random() % (std::uint64_t{1} << 30);
      const std::uint64_t want = 1 + random() % (std::uint64_t{1} << (1 + random() % 24));
      const format::Frame chunk = file.place_chunk(asked, want, false, false).value();
      EXPECT_GE(chunk.offset, end);
      end = chunk.offset + chunk.extent;
      EXPECT_GT(chunk.capacity(), 0u);
      EXPECT_EQ(chunk.data() % header.alignment, 0u);
      EXPECT_GE(chunk.data() - chunk.offset, format::chunk_data_offset(chunk.capacity(), header));
      const std::uint64_t boundary = chunk.capacity() >= 9 << 20 ? 1 << 20 : 1 << 18;
      if (chunk.capacity() >= 2 << 20 && end % boundary == 0) {
        EXPECT_LT((chunk.logical_offset - chunk.data()) % boundary, header.alignment) << want;
      }
    }
  }
}

}  // namespace
}  // namespace thalweg
