// The machine dies during unsynced appends to a multifile: earlier sessions that closed and reached storage remain.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/crash_check.hpp"
#include "support/crash/crash_program.hpp"
#include "testing/fault_journal.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "appended.tw";
constexpr std::uint64_t kSeeds = 20 * FaultJournal::kLosses;

class AppendDeath : public testing::TestWithParam<format::Checksum> {
 protected:
  // One task, one logical file, a session of one write.
  std::unique_ptr<Multifile> write(MultifileMode access, std::uint64_t at, std::uint64_t bytes) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kPath;
    request.access = access;
    request.options = small_options();
    request.options.checksum = GetParam();
    auto file = run(open_multifile(*group_, std::move(request))).value();
    WriteHandle& handle = *file->writing;
    EXPECT_TRUE(handle.seek_to(0, static_cast<std::int64_t>(at)).ok());
    const std::uint64_t version = history_.begin(at, bytes);
    EXPECT_TRUE(handle.write(*handle.current(), written_bytes(0, history_.writes.back(), version)).ok());
    return file;
  }
  void close(std::unique_ptr<Multifile> file) {
    EXPECT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
    history_.flushed = history_.writes.size();
  }
  void write_and_close(MultifileMode access, std::uint64_t at, std::uint64_t bytes) { close(write(access, at, bytes)); }
  void reach_storage() {
    storage_->restart({.keep_journal = true});
    history_.synced = history_.flushed;
  }
  std::string die(std::uint64_t seed) {
    storage_->kill(Death::machine, seed);
    Aftermath at;
    at.storage = storage_->wrapped();
    at.path = kPath;
    at.histories = {history_};
    at.death = Death::machine;
    at.may_be_zeros = GetParam() == format::Checksum::none;
    at.closes_at_once = false;
    at.had_closed = true;
    return check_aftermath(std::move(at));
  }
  void begin() {
    storage_ = make_fault_backend(make_memory_backend(), {.keep_journal = true});
    history_ = {};
  }

 private:
  const std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<FaultBackend> storage_;
  History history_;
};

TEST_P(AppendDeath, GapsOfBeforeStayZeros) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write_and_close(MultifileMode::create, 300, 50);
    reach_storage();
    write_and_close(MultifileMode::append, 350, 5000);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_P(AppendDeath, BytesThatItOverwroteAreNotHidden) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write_and_close(MultifileMode::create, 0, 9000);
    reach_storage();
    write_and_close(MultifileMode::append, 2000, 5000);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
  }
}

TEST_P(AppendDeath, SeveralInARowLeaveAWayToTheFirst) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    begin();
    write_and_close(MultifileMode::create, 0, 500);
    write_and_close(MultifileMode::append, 500, 700);
    reach_storage();
    for (std::uint64_t at = 1200; at < 3200; at += 500) write_and_close(MultifileMode::append, at, 500);
    auto last = write(MultifileMode::append, 3200, 500);
    EXPECT_EQ(die(seed), "") << "seed " << seed;
    last.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Checksums, AppendDeath, testing::Values(format::Checksum::none, format::Checksum::crc32c),
                         [](const auto& instance) {
                           return instance.param == format::Checksum::none ? "None" : "Crc32c";
                         });

}  // namespace
}  // namespace thalweg::test
