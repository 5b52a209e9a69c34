// Vpfiles that claim far more virtual processors than have data: work, memory and output are proportional to the data.
// The tests count calls and bytes, never time.
#include "sim/memory_backend.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "support/files/shared_files.hpp"
#include "support/files/vp_open.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kClaimed = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostCalls = 5000;
const std::vector<std::uint64_t> kWritten = {0, 5, std::uint64_t{1} << 39, kClaimed - 1};

class VpClaims : public SharedFiles {
 protected:
  std::unique_ptr<VpFile> open(const char* mode) {
    VpOpen how;
    how.path = "f";
    open_as(how, mode);
    how.shape = {kClaimed};
    how.hints.block_bytes = 16;
    how.hints.superblock_bytes = 4096;
    auto opened = run(VpFile::open(*group_, storage_, std::move(how)));
    EXPECT_TRUE(opened.has_value()) << opened.status().message();
    return std::move(opened).value();
  }
  static void append(VpFile& file, std::uint64_t vp, const std::string& text) {
    EXPECT_TRUE(file.stream(vp).seek(0, SEEK_END).ok());
    const auto written = file.stream(vp).write(std::as_bytes(std::span(text)));
    EXPECT_TRUE(written.has_value());
  }
  // Written twice: the second time into sealed blocks, as rows without blocks show.
  std::unique_ptr<VpFile> write() {
    auto file = open("w");
    for (const char* text : {"hello ", "world"}) {
      for (const std::uint64_t vp : kWritten) append(*file, vp, text);
      EXPECT_TRUE(run(file->flush()).ok());
    }
    return file;
  }
  void expect_streams() {
    const auto file = open("r");
    std::uint64_t entries = 0;
    for (std::uint64_t vp = 0; vp < kClaimed;) {
      const std::uint64_t end = file->stream(vp).end_of_alike().value();
      if (file->stream(vp).size().value() > 0) {
        char text[20] = {};
        const auto got = file->stream(vp).read(std::as_writable_bytes(std::span(text)));
        EXPECT_EQ(std::string(text, got.value()), "hello world") << vp;
        EXPECT_EQ(end, vp + 1);
        ++entries;
      }
      ASSERT_GT(end, vp);
      vp = end;
    }
    EXPECT_EQ(entries, kWritten.size());
  }
  CheckResult expect_verified(Code code) {
    CheckResult health;
    std::string findings;
    const Watch watch{[&](const std::string& text) { findings += text + "\n"; }, [](auto, auto) { return true; }};
    const Status status = verify_vpfile(*storage_, "f", watch, health);
    EXPECT_EQ(status.code(), code) << status.message() << "\n" << findings;
    return health;
  }
  void expect_few_calls(const char* what) {
    EXPECT_LT(storage_->calls(), kMostCalls) << what;
    storage_->restart({});
  }

  // The last row of the first superblock with a table gets the largest possible number of VPs.
  void widen_last_row() {
    auto file = storage_->open("f", OpenMode::read_write).value();
    std::vector<std::byte> bytes(file->size().value());
    ASSERT_TRUE(file->read(0, bytes).has_value());
    const ByteSpan image = ByteSpan(bytes).first(4096);
    std::uint32_t rows = 0;
    for (const std::size_t seal : format::kFillSlotOffset)
      rows = std::max(rows, load_le<std::uint32_t>(image.subspan(seal + 4)));
    const std::size_t row = 4096 - format::kRowBytes * rows;
    ASSERT_EQ(load_le<std::uint32_t>(image.subspan(row + 20)), 0u) << "a row without blocks";
    store_le(image.subspan(row), std::uint64_t{0});
    store_le(image.subspan(row + 16), ~std::uint32_t{0});
    seal_superblock(bytes);
    ASSERT_TRUE(file->write(0, bytes).ok());
    storage_->restart({});
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  const std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend());
};

TEST_F(VpClaims, WritingReadingAndVerifyingGoByWhatIsStored) {
  EXPECT_TRUE(run(write()->close()).ok());
  expect_few_calls("writing");

  expect_streams();
  expect_few_calls("reading");

  EXPECT_EQ(expect_verified(Code::ok).logical_bytes, 11 * kWritten.size());
  expect_few_calls("verify");
}

TEST_F(VpClaims, APageOfEntriesThatIsLostIsOneFinding) {
  EXPECT_TRUE(run(write()->close()).ok());
  const auto first = storage_->open(vp_side_path("f", format::DirectoryFile::first), OpenMode::read_write).value();
  const std::uint64_t bytes = first->size().value();
  EXPECT_TRUE(first->truncate(format::kFirstEntry).ok());
  EXPECT_TRUE(first->truncate(bytes).ok());
  storage_->restart({});

  const CheckResult health = expect_verified(Code::corrupt_file);

  constexpr std::uint64_t kPages = 3;  // 0 and 5 share a page
  EXPECT_EQ(health.findings, kPages);
  EXPECT_EQ(health.damaged_logical, kPages * format::kEntriesPerSum);
  expect_few_calls("verify");
}

TEST_F(VpClaims, WhatWasNotClosedIsRepairedByWhatIsStored) {
  static_cast<void>(write());
  expect_verified(Code::not_closed);
  storage_->restart({});

  CheckResult health;
  const Status repaired = repair_vpfile(*storage_, "f", {}, {}, health);

  EXPECT_TRUE(repaired.ok()) << repaired.message();
  expect_few_calls("repair");
  expect_streams();
  expect_verified(Code::ok);
}

TEST_F(VpClaims, ARowThatNamesVeryManyVpsTellsOfThoseThatHaveBlocks) {
  static_cast<void>(write());
  widen_last_row();

  CheckResult health;
  const Status repaired = repair_vpfile(*storage_, "f", {}, {}, health);

  EXPECT_TRUE(repaired.ok()) << repaired.message();
  expect_few_calls("repair");
  expect_verified(Code::ok);
  const auto file = open("r");
  EXPECT_EQ(file->stream(7).size().value(), 0u) << "it has no block";
  EXPECT_EQ(file->stream(5).size().value(), 11u);
}

TEST_F(VpClaims, ATableThatNamesItsBlocksTwiceIsLost) {
  EXPECT_TRUE(run(write()->close()).ok());
  auto file = storage_->open("f", OpenMode::read_write).value();
  std::vector<std::byte> bytes(4096);
  ASSERT_TRUE(file->read(0, bytes).has_value());
  store_le(ByteSpan(bytes).subspan(4096 - format::kRowBytes + 16),
           std::uint32_t{3});  // row 0 claims blocks of others, too
  seal_superblock(bytes);
  ASSERT_TRUE(file->write(0, bytes).ok());

  CheckResult health;
  const Status repaired = repair_vpfile(*storage_, "f", {}, {}, health);

  EXPECT_EQ(repaired.code(), Code::corrupt_file) << repaired.message();
  EXPECT_NE(repaired.message().find("damaged"), std::string::npos) << repaired.message();
}

TEST_F(VpClaims, RegionsAndFlatteningGoByWhatIsStored) {
  EXPECT_TRUE(run(write()->close()).ok());
  storage_->restart({});
  std::uint64_t bytes = 0;
  EXPECT_TRUE(walk_vp_regions(*storage_, "f", [&](const VpRegion& region) {
                bytes += region.bytes;
                return true;
              }).ok());
  EXPECT_EQ(bytes, storage_->open("f", OpenMode::read).value()->size().value());
  expect_few_calls("regions");

  const Status flat = flatten_vpfile(storage_, "f", "flat", 16, std::byte{0}, {});

  EXPECT_TRUE(flat.ok()) << flat.message();
  expect_few_calls("flatten");
  char text[17] = {};
  const auto file = storage_->open("flat", OpenMode::read).value();
  EXPECT_EQ(file->size().value(), kClaimed * 16);
  EXPECT_EQ(file->read((kClaimed - 1) * 16, std::as_writable_bytes(std::span(text).first(16))).value(), 16u);
  EXPECT_STREQ(text, "hello world");
}

TEST_F(VpClaims, AGapIsSkippedWithoutReadingIt) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 60;
  auto file = open("w");
  append(*file, 3, "begin");
  EXPECT_TRUE(file->stream(3).seek(kFar, SEEK_SET).ok());
  const std::string end = "end";
  EXPECT_TRUE(file->stream(3).write(std::as_bytes(std::span(end))).has_value());
  EXPECT_TRUE(run(file->close()).ok());
  file = open("r");
  storage_->restart({});

  EXPECT_EQ(file->stream(3).skip_gap().value(), 0u);
  EXPECT_TRUE(file->stream(3).seek(100, SEEK_SET).ok());
  EXPECT_EQ(file->stream(3).skip_gap().value(), kFar - 100);
  char text[8] = {};
  EXPECT_EQ(file->stream(3).read(std::as_writable_bytes(std::span(text))).value(), 3u);
  EXPECT_STREQ(text, "end");
  EXPECT_EQ(file->stream(3).skip_gap().value(), 0u);
  expect_few_calls("reading");
}

// An array of zeros that is a hole, and a stream of rounds beyond the end of the file.
TEST_F(VpClaims, HolesOfTheLatticeAreSkipped) {
  constexpr std::uint64_t kRecord = std::uint64_t{1} << 40;
  const auto data = storage_->open("f", OpenMode::create).value();
  EXPECT_TRUE(data->truncate(4 * kRecord).ok());
  EXPECT_TRUE(import_array(*storage_, "f", {2}, kRecord).ok());
  VpOpen how;
  how.path = "f";
  const auto file = run(VpFile::open(*group_, storage_, std::move(how))).value();
  storage_->restart({});

  std::uint64_t skipped = 0;
  while (file->stream(1).position() < file->stream(1).size().value()) {
    const std::uint64_t gap = file->stream(1).skip_gap().value();
    ASSERT_GT(gap, 0u);
    skipped += gap;
  }

  EXPECT_EQ(skipped, 2 * kRecord);
  expect_few_calls("reading");
}

}  // namespace
}  // namespace thalweg::test
