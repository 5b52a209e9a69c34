// Scans superblocks of very many VPs in bounded time and memory, whatever their rows contain, and compares what they
// say of each other.
#include "vpfile/check/superblock_scan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg {
namespace {

using format::SuperblockRow;

constexpr std::uint64_t kVps = format::kMostVps;
constexpr const char* kPath = "f";

struct Origin {
  std::uint32_t session = 1;
  std::optional<std::uint64_t> previous = std::nullopt;
  std::uint32_t previous_rows = 0;
  std::uint64_t before = 0;
};

class ScanOfMany : public testing::Test {
 protected:
  ScanOfMany() {
    geometry_.n = kVps;
    geometry_.block_bytes = 16;
    geometry_.superblock_bytes = 4096;
    geometry_.pointers = 1;
    id_.uuid[0] = 7;
    data_ = backend_->open(kPath, OpenMode::create).value();
  }

  // Stores a superblock with these rows; its blocks are consecutive.
  void put(std::uint64_t number, std::vector<SuperblockRow> rows, const Origin& origin = {}) {
    std::vector<std::byte> image(geometry_.superblock_bytes);
    std::uint32_t blocks = 0, n_rows = 0;
    for (SuperblockRow& row : rows) {
      row.first_block = blocks;
      blocks += row.n * row.blocks;
      encode_row(row, std::span(image).subspan(row_offset(geometry_, n_rows++), format::kRowBytes));
    }
    format::FillSlot seal{.bytes = format::rows_and_blocks(n_rows, blocks), .count = 1};
    seal.table_seal = table_crc(image, geometry_, n_rows);
    seal.tail_seal = block_crc(image, geometry_, blocks);
    const format::SuperblockHeader header{
        id_, number, origin.session, origin.previous_rows, origin.previous.value_or(number), origin.before, geometry_};
    std::ranges::copy(encode_superblock_header(header), image.begin());
    std::ranges::copy(encode_seal(seal, header), image.begin() + static_cast<std::ptrdiff_t>(seal_offset(seal)));
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
      const auto chains = found.chains(begin);
      if (!chains.has_value()) {
        ADD_FAILURE() << chains.error().message();
        break;
      }
      for (const VpChain& chain : chains.value()) walk.lengths[chain.vp] = chain.bytes;
    }
    return walk;
  }

  SuperblockScan scan(std::uint64_t last_closed = 1) {
    return SuperblockScan::of(*data_, id_, geometry_, last_closed, {}).value();
  }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::unique_ptr<StoredFile> data_;
  format::VpGeometry geometry_;
  format::FileIdentity id_;
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

using ScanOfSessions = ScanOfMany;
using Numbers = std::vector<std::uint64_t>;

const SuperblockRow kRow{.vp = 5, .blocks = 1, .bytes = 10};

TEST_F(ScanOfSessions, WhatFollowsAMissingSuperblockOfAnUnclosedSessionIsDropped) {
  put(0, {kRow});
  put(3, {kRow}, {.session = 2, .before = 1});
  put(4, {kRow}, {.session = 2, .previous = 2, .previous_rows = 1, .before = 1});
  put(5, {kRow}, {.session = 2, .previous = 3, .previous_rows = 1, .before = 1});
  put(6, {kRow}, {.session = 2, .previous = 4, .previous_rows = 1, .before = 1});

  const SuperblockScan found = scan();

  EXPECT_EQ(found.dropped(), (Numbers{4, 6}));
  EXPECT_EQ(found.count(), 3u);
  EXPECT_EQ(found.closed_count(), 1u);
  EXPECT_EQ(found.end(), 7u);
}

TEST_F(ScanOfSessions, WhatFollowsAnOlderStateOfASuperblockIsDropped) {
  put(0, {kRow});
  put(1, {kRow}, {.previous = 0, .previous_rows = 2});

  EXPECT_EQ(scan(0).dropped(), Numbers{1});
  EXPECT_EQ(scan(1).dropped(), Numbers{}) << "closed";
  EXPECT_EQ(scan(1).findings(), std::vector<std::string>{"superblock 0 has 1 rows of 2"});
}

TEST_F(ScanOfSessions, AnUnclosedSessionThatFollowsAnIncompleteOneIsDropped) {
  put(1, {kRow}, {.session = 2, .before = 1});

  EXPECT_EQ(scan(1).dropped(), Numbers{1});
  EXPECT_EQ(scan(2).dropped(), Numbers{}) << "closed";
  EXPECT_EQ(scan(2).findings().size(), 1u);
}

TEST_F(ScanOfSessions, ManyThatCountTooManyEarlierSuperblocksAreScannedInLinearTime) {
  constexpr std::uint64_t kMany = 20000;
  for (std::uint32_t i = 0; i < kMany; ++i) put(i, {kRow}, {.session = i + 1, .before = kMany});

  EXPECT_EQ(scan(kMany).findings().size(), kMany);
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
