// The machine dies during unsynced updates of a vpfile: earlier sessions that closed and reached storage remain.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/crash_program.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/files/vp_open.hpp"
#include "testing/fault_journal.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "updated.vp";
constexpr std::uint64_t kSeeds = 20 * FaultJournal::kLosses;

class VpAppendDeath : public testing::Test {
 protected:
  void begin() {
    storage_ = make_fault_backend(make_memory_backend(), {.keep_journal = true});
    history_ = {};
  }
  // A session of one write to the blocks of one VP, or of none.
  void write(const char* mode, std::uint64_t at, std::uint64_t bytes) {
    const auto file = open(mode);
    if (bytes > 0) put(*file, at, bytes);
    EXPECT_TRUE(run(file->close()).ok());
    history_.flushed = history_.writes.size();
  }
  // A session without a close that writes bytes and flushes them, and stops amid the flush of a second update.
  void begin_to_update_twice(std::uint64_t at, std::uint64_t bytes) {
    const auto file = open("r+");
    put(*file, at, bytes);
    EXPECT_TRUE(file->stream(0).flush().ok());
    history_.flushed = history_.writes.size();
    put(*file, at, bytes);
    const FaultRule after_the_seal{.kind = CallKind::write, .at = 2, .lasting = true};
    storage_->go_on({.rules = {after_the_seal}, .keep_journal = true});
    EXPECT_FALSE(file->stream(0).flush().ok());
  }
  // Updates as above, where the first sync and with it the flush fails; the flush is then tried again.
  void fail_to_update_twice(std::uint64_t at, std::uint64_t bytes) {
    const auto file = open("r+");
    put(*file, at, bytes);
    EXPECT_TRUE(file->stream(0).flush().ok());
    history_.flushed = history_.writes.size();
    put(*file, at, bytes);
    storage_->go_on({.rules = {{.kind = CallKind::sync, .at = 1}}, .keep_journal = true});
    EXPECT_FALSE(file->stream(0).flush().ok());
    EXPECT_FALSE(file->stream(0).flush().ok());
  }
  void reach_storage() {
    storage_->restart({.keep_journal = true});
    history_.synced = history_.flushed;
  }
  std::string die(std::uint64_t seed) {
    storage_->kill(Death::machine, seed);
    VpAftermath at;
    at.storage = storage_->wrapped();
    at.path = kPath;
    at.histories = {history_};
    at.death = Death::machine;
    at.had_closed = true;
    return check_vp_aftermath(std::move(at));
  }

 private:
  std::unique_ptr<VpFile> open(const char* mode) {
    VpOpen how;
    how.path = kPath;
    open_as(how, mode);
    how.shape = {1};
    how.hints.block_bytes = 16;
    how.hints.superblock_bytes = 4096;
    how.hints.cache_bytes = 0;
    how.hints.directory_pointers = 1;  // the chain of a VP needs entries of NAME.dir
    return run(VpFile::open(*group_, storage_, std::move(how))).value();
  }
  void put(VpFile& file, std::uint64_t at, std::uint64_t bytes) {
    const std::uint64_t version = history_.begin(at, bytes);
    EXPECT_TRUE(file.stream(0).seek(static_cast<std::int64_t>(at), SEEK_SET).ok());
    EXPECT_TRUE(file.stream(0).write(written_bytes(0, history_.writes.back(), version)).has_value());
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<FaultBackend> storage_;
  History history_;
};

TEST_F(VpAppendDeath, BlocksThatItOverwroteAreNotHidden) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 1500);
    reach_storage();
    write("r+", 200, 700);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_F(VpAppendDeath, BlocksThatItCopiedAreNotLostWhenTheCopyIsUpdated) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 1500);
    reach_storage();
    begin_to_update_twice(200, 700);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_F(VpAppendDeath, CopiesInMoreSuperblocksThanTheCacheHoldsAreNotLostEither) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 30000);
    reach_storage();
    begin_to_update_twice(200, 29000);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_F(VpAppendDeath, CopiesAreNotUpdatedAfterAFailedSync) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 1500);
    reach_storage();
    fail_to_update_twice(200, 700);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_F(VpAppendDeath, TheFirstBlocksLeaveAFileThatCanBeAppendedTo) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 0);
    reach_storage();
    write("r+", 0, 1500);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_F(VpAppendDeath, SeveralInARowLeaveWhatWasThere) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write("w+", 0, 501);
    reach_storage();
    for (std::uint64_t at = 501; at < 2000; at += 499) write("r+", at, 499);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

// A vpfile that was closed and had reached the storage, and the superblocks of an appended session that was flushed but
// not closed.
class VpUnclosedAppend : public testing::Test {
 protected:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kSuperblock = 4 * kPage;

  VpUnclosedAppend() {
    EXPECT_TRUE(run(session(storage_, "w", 1, 9000)->close()).ok());
    for (History& history : histories_) history.synced = history.flushed = history.writes.size();
    closed_ = copy_of(*storage_, vp_paths(kPath));
    closed_bytes_ = size_of(*storage_);
    EXPECT_TRUE(run(session(storage_, "a", 10, 1000)->flush()).ok());
    bytes_ = size_of(*storage_);
  }
  std::unique_ptr<VpFile> session(const std::shared_ptr<Backend>& storage, const char* mode, int rounds,
                                  std::uint64_t bytes) {
    VpOpen how;
    how.path = kPath;
    open_as(how, mode);
    how.shape = {histories_.size()};
    how.hints.superblock_bytes = kSuperblock;
    auto file = run(VpFile::open(*group_, storage, std::move(how))).value();
    for (int round = 0; round < rounds; ++round) {
      for (std::uint64_t vp = 0; vp < histories_.size(); ++vp) {
        const std::uint64_t at = file->stream(vp).size().value();
        const std::uint64_t version = histories_[vp].begin(at, bytes);
        const auto data = written_bytes(vp, histories_[vp].writes.back(), version);
        EXPECT_TRUE(file->stream(vp).write(data).has_value());
      }
    }
    return file;
  }
  static std::uint64_t size_of(Backend& storage) { return storage.open(kPath, OpenMode::read).value()->size().value(); }
  // The vpfile without a page of the data file.
  std::shared_ptr<Backend> without_page(std::uint64_t at) const {
    std::shared_ptr<Backend> storage = copy_of(*storage_, vp_paths(kPath));
    const auto file = storage->open(kPath, OpenMode::read_write).value();
    EXPECT_TRUE(file->write(at, std::vector<std::byte>(kPage)).ok());
    return storage;
  }
  VpAftermath aftermath(std::shared_ptr<Backend> storage) const {
    VpAftermath at;
    at.storage = std::move(storage);
    at.path = kPath;
    at.histories = histories_;
    at.death = Death::machine;
    at.had_closed = true;
    return at;
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  const std::shared_ptr<Backend> storage_ = make_memory_backend();
  std::shared_ptr<Backend> closed_;  // as it was before the append
  std::uint64_t closed_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<History> histories_ = std::vector<History>(2);
};

TEST_F(VpUnclosedAppend, ThatLostAnyPageIsSoundAfterARepair) {
  ASSERT_GT(bytes_, closed_bytes_ + kSuperblock) << "several superblocks";
  for (std::uint64_t at = closed_bytes_; at < bytes_; at += kPage)
    EXPECT_EQ(check_vp_aftermath(aftermath(without_page(at))), "") << at;
}

TEST_F(VpUnclosedAppend, WhoseMarkIsLostDoesNotMixWithTheNextSession) {
  for (const std::string& path : vp_paths(kPath)) {
    if (path == kPath || !closed_->exists(path).value()) continue;
    std::vector<std::byte> bytes(closed_->open(path, OpenMode::read).value()->size().value());
    EXPECT_TRUE(closed_->open(path, OpenMode::read).value()->read(0, bytes).has_value());
    const auto file = storage_->open(path, OpenMode::create).value();
    EXPECT_TRUE(file->write(0, bytes).ok());
  }

  EXPECT_TRUE(run(session(storage_, "a", 1, 100)->close()).ok());

  CheckResult health;
  const Status whole = verify_vpfile(*storage_, kPath, {}, health);
  EXPECT_TRUE(whole.ok()) << whole.message();
  EXPECT_EQ(check_vp_content(aftermath(storage_)), "");
}

TEST_F(VpUnclosedAppend, ToAFileThatLostASuperblockIsRepairedWithAnError) {
  const auto storage = without_page(closed_bytes_ - kSuperblock);

  CheckResult health;
  const Status repaired = repair_vpfile(*storage, kPath, {}, {}, health);

  EXPECT_EQ(repaired.code(), Code::corrupt_file) << repaired.message();
  EXPECT_NE(repaired.message().find("1 superblocks of closed sessions are missing"), std::string::npos)
      << repaired.message();
  EXPECT_TRUE(verify_vpfile(*storage, kPath, {}, health).ok());
}

}  // namespace
}  // namespace thalweg::test
