// The machine dies during unsynced updates of a vpfile: earlier sessions that closed and reached storage remain.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/vp_crash_check.hpp"
#include "testing/fault_journal.hpp"
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
    VpOpen how;
    how.path = kPath;
    how.mode = mode;
    how.shape = {1};
    how.hints.block_bytes = 16;
    how.hints.superblock_bytes = 4096;
    how.hints.directory_pointers = 1;  // the chain of a VP needs entries of NAME.dir
    auto file = run(VpFile::open(*group_, storage_, std::move(how))).value();
    if (bytes > 0) {
      const std::uint64_t version = history_.begin(at, bytes);
      EXPECT_TRUE(file->stream(0).seek(static_cast<std::int64_t>(at), SEEK_SET).ok());
      EXPECT_TRUE(file->stream(0).write(written_bytes(0, history_.writes.back(), version)).has_value());
    }
    EXPECT_TRUE(run(file->close()).ok());
    history_.flushed = history_.writes.size();
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

}  // namespace
}  // namespace thalweg::test
