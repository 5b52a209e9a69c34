// Superblocks of very many VPs are looked through in little time and memory, whatever their rows claim.
#include "vpfile/superblock_scan.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "vpfile/vp_health.hpp"

namespace thalweg {
namespace {

using format::SuperblockRow;

constexpr std::uint64_t kVps = format::kMostVps;
constexpr const char* kPath = "f";

class ScanOfMany : public testing::Test {
 protected:
  ScanOfMany() {
    geometry_.n = kVps;
    geometry_.block_bytes = 16;
    geometry_.superblock_bytes = 4096;
    geometry_.pointers = 1;
    id_[0] = std::byte{7};
    data_ = backend_->open(kPath, OpenMode::create).value();
  }

  // A superblock of these rows, whose blocks are in order.
  void put(std::uint64_t number, std::vector<SuperblockRow> rows) {
    std::vector<std::byte> image(geometry_.superblock_bytes);
    format::Seal seal;
    seal.turn = 1;
    for (SuperblockRow& row : rows) {
      row.first_block = seal.blocks;
      seal.blocks += row.n * row.blocks;
      encode_row(row, std::span(image).subspan(row_offset(geometry_, seal.rows++), format::kRowBytes));
    }
    seal.table_crc = table_crc(image, geometry_, seal.rows);
    seal.block_crc = block_crc(image, geometry_, seal.blocks);
    const format::SuperblockHeader header{id_, number, 1, geometry_};
    std::ranges::copy(encode_superblock_header(header), image.begin());
    std::ranges::copy(encode_seal(seal, header), image.begin() + static_cast<std::ptrdiff_t>(seal.offset()));
    ASSERT_TRUE(data_->write(number * geometry_.superblock_bytes, image).ok());
  }

  SuperblockScan scan() { return SuperblockScan::of(*data_, id_, geometry_).value(); }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::unique_ptr<StoredFile> data_;
  format::VpGeometry geometry_;
  format::VpIdentity id_{};
};

TEST_F(ScanOfMany, VpsThatNoRowNamesArePassedBy) {
  put(0, {{.vp = 5, .blocks = 1, .bytes = 10}, {.vp = kVps - 3, .n = 2, .blocks = 2, .bytes = 20}});
  const SuperblockScan found = scan();

  EXPECT_LE(found.chunk(), std::uint64_t{1} << 18);
  EXPECT_LE(found.next_named(0), 5u);
  std::uint64_t chunks = 0;
  std::uint64_t named = 0;
  for (std::uint64_t begin = 0; (begin = found.next_named(begin)) < kVps; ++chunks) {
    const std::uint64_t end = std::min(kVps, begin + found.chunk());
    const auto chains = found.chains(begin, end);
    ASSERT_TRUE(chains.has_value());
    for (const VpChain& chain : chains.value()) named += chain.bytes != 0 ? 1 : 0;
    begin = end;
  }
  EXPECT_EQ(named, 3u);
  EXPECT_LE(chunks, 200u);
}

TEST_F(ScanOfMany, RowsOfNearlyAllVpsTakeNoMoreMemory) {
  const auto most = std::uint32_t{0} - 1;
  for (std::uint64_t i = 0; i < 20; ++i) put(i, {{.vp = i, .n = most, .blocks = 0, .bytes = 16}});
  const SuperblockScan found = scan();
  EXPECT_GE(found.chunk(), std::uint64_t{1} << 10) << "not one by one";
  EXPECT_LE(found.chunk(), std::uint64_t{1} << 18);
  EXPECT_EQ(found.chains(0, found.chunk()).value()[0].bytes, 16u);
  EXPECT_GT(found.next_named(std::uint64_t{1} << 33), std::uint64_t{1} << 34);
}

TEST_F(ScanOfMany, RepairOfASparseFileOfVeryManyStreamsEnds) {
  constexpr std::uint64_t kFewer = std::uint64_t{1} << 34;
  geometry_.n = kFewer;
  put(0, {{.vp = 5, .blocks = 1, .bytes = 10}});
  put(3, {{.vp = kFewer - 1, .blocks = 2, .bytes = 20}});
  ASSERT_TRUE(data_->close().ok());
  Health health;

  const Status repaired = repair_vpfile(*backend_, kPath, {kFewer}, {}, health);

  EXPECT_TRUE(repaired.ok()) << repaired.message();
  EXPECT_EQ(health.logical_bytes, 30u);
  const Status verified = verify_vpfile(*backend_, kPath, {}, health);
  EXPECT_TRUE(verified.ok()) << verified.message();
}

}  // namespace
}  // namespace thalweg
