// Scans superblocks of very many VPs in bounded time and memory, whatever their rows contain.
#include "vpfile/check/superblock_scan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "sim/memory_backend.hpp"
#include "vpfile/check/verify_vpfile.hpp"

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

  // Stores a superblock with these rows; its blocks are consecutive.
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

  struct Walk {
    std::map<std::uint64_t, std::uint64_t> lengths;  // in bytes, of the VPs that have blocks
    std::uint64_t windows = 0;
  };
  Walk walk_all() {
    SuperblockScan found = scan();
    Walk walk;
    for (std::uint64_t begin = 0; begin < kVps; ++walk.windows) {
      auto window = found.chains(begin);
      if (!window.has_value()) {
        ADD_FAILURE() << window.error().message();
        break;
      }
      for (const auto& [vp, chain] : window.value().chains) walk.lengths[vp] = chain.bytes;
      begin = window.value().end;
    }
    return walk;
  }

  SuperblockScan scan() { return SuperblockScan::of(*data_, id_, geometry_, {}).value(); }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::unique_ptr<StoredFile> data_;
  format::VpGeometry geometry_;
  format::VpIdentity id_{};
};

TEST_F(ScanOfMany, VpsThatNoRowNamesArePassedBy) {
  put(0, {{.vp = 5, .blocks = 1, .bytes = 10}, {.vp = kVps - 3, .n = 2, .blocks = 2, .bytes = 20}});
  const Walk walk = walk_all();
  EXPECT_EQ(walk.lengths, (std::map<std::uint64_t, std::uint64_t>{{5, 10}, {kVps - 3, 20}, {kVps - 2, 20}}));
  EXPECT_LE(walk.windows, 200u);
}

TEST_F(ScanOfMany, RowsOfNearlyAllVpsTakeNoMoreMemory) {
  const auto most = std::uint32_t{0} - 1;
  put(0, {{.vp = 30, .blocks = 1, .bytes = 10}});
  for (std::uint64_t i = 1; i < 20; ++i) put(i, {{.vp = i, .n = most, .blocks = 0, .bytes = 16}});
  const Walk walk = walk_all();
  EXPECT_EQ(walk.lengths, (std::map<std::uint64_t, std::uint64_t>{{30, 16}})) << "of VPs that have blocks";
  EXPECT_LE(walk.windows, 200u);
}

TEST_F(ScanOfMany, RepairOfASparseFileOfVeryManyStreamsEnds) {
  constexpr std::uint64_t kFewer = std::uint64_t{1} << 34;
  geometry_.n = kFewer;
  put(0, {{.vp = 5, .blocks = 1, .bytes = 10}});
  put(3, {{.vp = kFewer - 1, .blocks = 2, .bytes = 20}});
  ASSERT_TRUE(data_->close().ok());
  CheckResult health;

  const Status repaired = repair_vpfile(*backend_, kPath, {kFewer}, {}, health);

  EXPECT_TRUE(repaired.ok()) << repaired.message();
  EXPECT_EQ(health.logical_bytes, 30u);
  const Status verified = verify_vpfile(*backend_, kPath, {}, health);
  EXPECT_TRUE(verified.ok()) << verified.message();
}

}  // namespace
}  // namespace thalweg
