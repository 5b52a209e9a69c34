// Multifiles that claim far more logical files than have data: work, memory and output are proportional to the data.
// The tests count calls and bytes, never time.
#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/check/regions.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/damage/damage_images.hpp"
#include "support/damage/damage_seal.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kClaimed = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostCalls = 5000;
constexpr std::uint64_t kMostBytes = 4 << 20;
const std::vector<std::int64_t> kWritten = {0, 7, std::int64_t{1} << 39, static_cast<std::int64_t>(kClaimed) - 1};
const char* const kCopyPath = "copy.tw";

FileBytes content(std::int64_t rank, std::size_t bytes = 100) {
  return FileBytes(bytes, static_cast<std::byte>(rank % 251 + 1));
}

class Claims : public testing::Test {
 protected:
  std::unique_ptr<Multifile> open(MultifileMode access, bool recover = false, const char* path = kImagePath,
                                  std::uint32_t physical_files = 1) {
    OpenRequest request;
    request.backend = storage_;
    request.path = path;
    request.access = access;
    request.recover = recover;
    MultifileOptions& options = request.options;
    options.physical_files = physical_files;
    options.alignment_bytes = options.granule_bytes = options.chunk_bytes = 4096;
    if (access != MultifileMode::read)
      request.serving = {Serving::Kind::list, static_cast<std::int64_t>(kClaimed), 0, 0, kWritten};
    auto file = run(open_multifile(*group_, std::move(request)));
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return std::move(file).value();
  }

  static void write_some(Multifile& file) {
    for (const std::int64_t rank : kWritten) {
      ASSERT_TRUE(file.writing->seek_to(static_cast<std::uint64_t>(rank), -1).ok());
      LogicalWriter& writer = *file.writing->current();
      writer.seek(writer.size());
      ASSERT_TRUE(file.writing->write(writer, content(rank)).ok());
      ASSERT_TRUE(file.writing->set_name(writer, "n" + std::to_string(rank), 0640).ok());
    }
    ASSERT_TRUE(file.writing->sync().ok());
  }
  void close(std::unique_ptr<Multifile> file) {
    const Status closed = run(close_multifile(*group_, std::move(file)));
    ASSERT_TRUE(closed.ok()) << closed.message();
  }
  void make_unclosed(std::uint32_t physical_files = 1) {
    const auto file = open(MultifileMode::create, false, kImagePath, physical_files);
    write_some(*file);
  }
  void make_closed() {
    auto file = open(MultifileMode::create);
    write_some(*file);
    close(std::move(file));
  }

  // Written files have their bytes, all others are empty without being read individually.
  void expect_content(bool recover, bool named, std::size_t bytes = 100, const char* path = kImagePath) {
    const auto file = open(MultifileMode::read, recover, path);
    ReadHandle& handle = *file->reading;
    for (const std::int64_t rank : kWritten) {
      FileBytes data(bytes + 10);
      std::size_t got = 0;
      LogicalReader* reader = handle.reader(static_cast<std::uint64_t>(rank)).value();
      ASSERT_TRUE(reader->read(0, data, got).ok());
      data.resize(got);
      EXPECT_EQ(data, content(rank, bytes)) << rank;
      if (!named) continue;
      EXPECT_EQ(handle.find("n" + std::to_string(rank)).value(), static_cast<std::uint64_t>(rank));
    }
    EXPECT_EQ(handle.entry(kClaimed / 3).value().bytes, 0u);
    EXPECT_EQ(handle.reader(kClaimed / 3).value()->size(), 0u);
    std::uint64_t entries = 0, runs = 0;
    for (std::uint64_t rank = 0; rank < kClaimed; ++runs) {
      const EntryRun run = handle.run_at(rank).value();
      ASSERT_GT(run.end, rank);
      EXPECT_TRUE(run.lost.ok());
      entries += run.has_entry;
      rank = run.end;
    }
    EXPECT_EQ(entries, kWritten.size());
    EXPECT_LT(runs, 2 * kWritten.size() + 1);
  }

  CheckResult expect_verified(Code code, const char* path = kImagePath) {
    CheckResult health;
    std::string findings;
    const Watch watch{[&](const std::string& text) { findings += text + "\n"; }, [](auto, auto) { return true; }};
    const Status status = verify_multifile(storage_, path, watch, health);
    EXPECT_EQ(status.code(), code) << status.message() << "\n" << findings;
    return health;
  }
  void expect_little_work(const char* what) {
    EXPECT_LT(storage_->calls(), kMostCalls) << what;
    EXPECT_LT(storage_->open(kImagePath, OpenMode::read).value()->size().value(), kMostBytes) << what;
    storage_->restart({});
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  const std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend());
};

TEST_F(Claims, ACloseWritesEntriesOfWhatIsThere) {
  make_closed();
  expect_little_work("writing");

  expect_content(false, true);
  EXPECT_EQ(expect_verified(Code::ok).logical_bytes, 100 * kWritten.size());

  expect_little_work("reading");
}

TEST_F(Claims, AnAppendKeepsTheIndexSmall) {
  make_closed();
  auto file = open(MultifileMode::append);
  write_some(*file);
  close(std::move(file));
  expect_little_work("appending");

  expect_content(false, true, 200);
  expect_verified(Code::ok);
}

TEST_F(Claims, WhatWasNotClosedIsReadVerifiedAndRepairedByWhatIsThere) {
  make_unclosed();
  expect_content(true, false);
  EXPECT_EQ(expect_verified(Code::not_closed).logical_bytes, 100 * kWritten.size());
  expect_little_work("recovery");

  CheckResult health;
  const Status repaired = repair_multifile(storage_, kImagePath, {}, health);

  EXPECT_TRUE(repaired.ok()) << repaired.message();
  expect_little_work("repair");
  expect_content(false, false);
  expect_verified(Code::ok);
}

TEST_F(Claims, AMissingPhysicalFileIsOneFinding) {
  {
    auto file = open(MultifileMode::create, false, kImagePath, 3);
    write_some(*file);
    close(std::move(file));
  }
  ASSERT_TRUE(storage_->remove(format::physical_name(kImagePath, 1)).ok());
  storage_->restart({});

  const CheckResult health = expect_verified(Code::corrupt_file);

  expect_little_work("verify");
  EXPECT_GT(health.damaged_logical, kClaimed / 4);
  EXPECT_LT(health.findings, 4u);
}

TEST_F(Claims, DefragCopiesWhatIsThere) {
  make_closed();
  storage_->restart({});

  const Status copied = defrag_multifile(storage_, kImagePath, kCopyPath, {}, {});

  EXPECT_TRUE(copied.ok()) << copied.message();
  expect_little_work("defrag");
  expect_content(false, true, 100, kCopyPath);
}

TEST_F(Claims, RegionsAreThoseThatAreThere) {
  make_closed();
  const auto file = open(MultifileMode::read);
  storage_->restart({});
  std::uint64_t bytes = 0;

  EXPECT_TRUE(walk_regions(file->reading->files(), [&](const Region& region) {
                bytes += region.bytes;
                return true;
              }).ok());

  EXPECT_EQ(bytes, storage_->open(kImagePath, OpenMode::read).value()->size().value());
  expect_little_work("regions");
}

// The state slot names an index of 2^40 entries, all of them in a hole.
class Hole : public Claims {
 protected:
  void put_index_into_a_hole(bool listed) {
    make_closed();
    auto file = storage_->open(kImagePath, OpenMode::read_write).value();
    FileBytes page(4096);
    ASSERT_TRUE(file->read(0, page).has_value());
    const format::FileHeader header = format::parse_header(ByteView(page).first(512), kMostBytes).value();
    format::StateSlot slot =
        format::parse_state(ByteView(page).subspan(512, 128), ByteView(page).subspan(1024, 128), header.id).value();
    format::IndexPage counts;
    counts.n_local = kClaimed;
    counts.n_entries = listed ? kClaimed - 1 : kClaimed;
    const format::IndexPage index = format::layout_index(counts, slot.index_offset).value();
    slot.end = index.end;
    slot.index_bytes = index.end - slot.index_offset;
    ASSERT_TRUE(file->truncate(slot.index_offset).ok());
    ASSERT_TRUE(file->write(slot.index_offset, format::encode_index_page(index, header.id, slot.index_offset)).ok());
    ASSERT_TRUE(file->truncate(index.end).ok());
    for (const int turn : {0, 1}) {
      slot.sequence += static_cast<unsigned>(turn);
      ASSERT_TRUE(file->write(format::state_offset(slot), format::encode_state(slot, header.id)).ok());
    }
    storage_->restart({});
  }
  void expect_few_calls(const char* what) {
    EXPECT_LT(storage_->calls(), kMostCalls) << what;
    storage_->restart({});
  }
};

TEST_F(Hole, EntriesInAHoleAreOneLoss) {
  for (const bool listed : {false, true}) {
    put_index_into_a_hole(listed);

    const CheckResult health = expect_verified(Code::corrupt_file);

    expect_few_calls("verify");
    EXPECT_EQ(health.damaged_logical, kClaimed);
    EXPECT_LT(health.findings, 5u);
    CheckResult repaired;
    const Status status = repair_multifile(storage_, kImagePath, {}, repaired);
    EXPECT_TRUE(status.ok() || status.code() == Code::corrupt_file) << status.message();
    expect_few_calls("repair");
    expect_content(false, false);
  }
}

}  // namespace
}  // namespace thalweg::test
