// A sync that finds all data flushed already: the data counts as synced all the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/crash_check.hpp"
#include "support/crash/crash_program.hpp"
#include "support/files/held_syncs.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "synced.tw";
constexpr std::uint64_t kSeeds = 40;

// One task with two logical files: one in a chunk that grows, one in packs.
class Program {
 public:
  explicit Program(format::Checksum checksum, bool direct = false) {
    OpenRequest request;
    request.backend = backend_;
    request.path = kPath;
    request.access = MultifileMode::create;
    request.options = direct ? small_direct_options() : small_options();
    request.options.checksum = checksum;
    request.serving = {Serving::Kind::range, 2, 0, 2, {}};
    file_ = run(open_multifile(*group_, std::move(request))).value();
  }

  void flush_twice() {
    write(0, 5000);
    write(1, 700);
    flush();
    write(0, 400);
    flush();
  }
  void sync(bool in_background) {
    if (in_background) {
      sync_is_complete(begin_sync());
    } else {
      EXPECT_TRUE(file_->writing->sync().ok());
      all_is_synced();
    }
  }
  std::shared_ptr<AccessRequest> begin_flush() { return file_->writing->begin(false).value(); }
  std::shared_ptr<AccessRequest> begin_sync() { return file_->writing->begin(true).value(); }
  void sync_is_complete(const std::shared_ptr<AccessRequest>& request) {
    wait_for(*request);
    EXPECT_TRUE(request->outcome().status.ok());
    all_is_synced();
  }
  void write_more() {
    write(0, 300);
    write(1, 200);
  }
  void flush() {
    EXPECT_TRUE(file_->writing->flush().ok());
    all_is_flushed();
  }
  void flush_is_complete(const std::shared_ptr<AccessRequest>& request) {
    wait_for(*request);
    EXPECT_TRUE(request->outcome().status.ok());
    all_is_flushed();
  }

  // Returns what is wrong after the death, or "".
  std::string die(Death death, std::uint64_t seed) {
    backend_->kill(death, seed);
    file_.reset();
    return check_aftermath(
        {.storage = backend_->wrapped(), .path = kPath, .histories = histories_, .death = death, .was_closed = false});
  }
  // The storage afterwards.
  Backend& end() {
    backend_->kill(Death::process, 0);
    file_.reset();
    return *backend_->wrapped();
  }
  const std::shared_ptr<Backend>& storage() const { return backend_->wrapped(); }

 private:
  void all_is_flushed() {
    for (History& history : histories_) history.flushed = history.writes.size();
  }
  void all_is_synced() {
    for (History& history : histories_) history.synced = history.writes.size();
  }
  void write(std::uint64_t rank, std::uint64_t bytes) {
    History& history = histories_[rank];
    const std::uint64_t offset = history.size();
    const std::uint64_t version = history.begin(offset, bytes);
    const auto data = written_bytes(rank, history.writes.back(), version);
    EXPECT_TRUE(file_->writing->seek_to(rank, static_cast<std::int64_t>(offset)).ok());
    EXPECT_TRUE(file_->writing->write(*file_->writing->current(), data).ok());
  }

  std::shared_ptr<FaultBackend> backend_ = make_fault_backend(make_memory_backend(), {.keep_journal = true});
  std::unique_ptr<Group> group_ = make_self_group();
  std::unique_ptr<Multifile> file_;
  std::vector<History> histories_{2};
};

enum class Later { nothing, written, flushed };

class SyncAfterFlush : public testing::TestWithParam<std::tuple<format::Checksum, Later, bool, bool>> {};

TEST_P(SyncAfterFlush, SurvivesTheDeathOfTheMachine) {
  const auto [checksum, later, in_background, direct] = GetParam();
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    Program program(checksum, direct);
    program.flush_twice();
    program.sync(in_background);
    if (later != Later::nothing) program.write_more();
    if (later == Later::flushed) program.flush();
    EXPECT_EQ(program.die(Death::machine, seed), "") << "seed " << seed;
  }
}

std::string name_of(const testing::TestParamInfo<SyncAfterFlush::ParamType>& info) {
  const char* later[] = {"NothingAfter", "MoreWritten", "MoreFlushed"};
  return std::string(later[static_cast<int>(std::get<1>(info.param))]) +
         (std::get<2>(info.param) ? "InBackground" : "") + (std::get<3>(info.param) ? "Direct" : "");
}

// Without checksums, flushed data may read as zeros, which the test cannot judge.
INSTANTIATE_TEST_SUITE_P(Unchecked, SyncAfterFlush,
                         testing::Combine(testing::Values(format::Checksum::none),
                                          testing::Values(Later::nothing, Later::written), testing::Bool(),
                                          testing::Bool()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Checked, SyncAfterFlush,
                         testing::Combine(testing::Values(format::Checksum::crc32c),
                                          testing::Values(Later::nothing, Later::written, Later::flushed),
                                          testing::Bool(), testing::Bool()),
                         name_of);

class SyncInBackground : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, SyncInBackground, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Direct" : "Buffered"; });

// A sync that never completes takes nothing from the one before, whatever was flushed since.
TEST_P(SyncInBackground, KeepsWhatWasSyncedBefore) {
  for (std::uint64_t seed = 0; seed < 2 * kSeeds && !HasFailure(); ++seed) {
    const HeldSyncs held;
    Program program(format::Checksum::crc32c, GetParam());
    if (seed % 4 > 0) {
      program.flush_twice();
      program.sync(false);
    }
    program.write_more();
    if (seed % 2 == 0) program.flush();
    const auto incomplete = program.begin_sync();
    program.write_more();
    program.flush();
    program.write_more();
    if (seed % 3 == 0) program.flush();
    EXPECT_EQ(program.die(Death::machine, seed), "") << "seed " << seed;
  }
}

TEST_P(SyncInBackground, CountsFromItsCompletionOn) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    auto held = std::make_unique<HeldSyncs>();
    Program program(format::Checksum::crc32c, GetParam());
    program.flush_twice();
    const auto first = program.begin_sync();
    program.write_more();
    program.flush();
    const auto second = program.begin_sync();
    held.reset();
    program.sync_is_complete(first);
    program.sync_is_complete(second);
    program.write_more();
    program.flush();
    EXPECT_EQ(program.die(Death::machine, seed), "") << "seed " << seed;
  }
}

// Flushes in the background keep their order with flushes, syncs and later writes.
TEST_P(SyncInBackground, AFlushCountsFromItsCompletionOn) {
  for (std::uint64_t seed = 0; seed < 4 * kSeeds && !HasFailure(); ++seed) {
    auto held = seed % 2 == 0 ? std::make_unique<HeldSyncs>() : nullptr;
    Program program(format::Checksum::crc32c, GetParam());
    program.flush_twice();
    if (seed % 3 == 0) program.sync(false);
    program.write_more();
    const auto first = program.begin_flush();
    if (seed % 5 == 0) program.flush();
    program.write_more();
    const auto second = seed % 4 < 2 ? program.begin_flush() : program.begin_sync();
    held.reset();
    wait_for(*first);
    program.flush_is_complete(second);
    program.write_more();
    if (seed % 7 < 3) program.flush();
    EXPECT_EQ(program.die(seed % 4 < 2 ? Death::process : Death::machine, seed), "") << "seed " << seed;
  }
}

// A slot marked as part of a sync proves that its bytes were synced: damage to them is reported as damage, not as data
// that never reached storage.
TEST(SyncAfterFlushMark, MakesLaterDamageOfSyncedBytesKnown) {
  Program program(format::Checksum::crc32c);
  program.flush_twice();
  program.sync(true);
  program.write_more();
  program.flush();
  auto file = program.end().open(kPath, OpenMode::read_write).value();
  std::vector<std::byte> bytes(file->size().value());
  ASSERT_EQ(file->read(0, bytes).value(), bytes.size());
  const auto first = written_bytes(0, {0, 5000, false}, 1);
  const auto found = std::search(bytes.begin(), bytes.end(), first.begin(), first.begin() + 100);
  ASSERT_NE(found, bytes.end());
  const std::byte other = ~*found;
  ASSERT_TRUE(file->write(static_cast<std::uint64_t>(found - bytes.begin()), {&other, 1}).ok());
  file.reset();

  CheckResult health;
  EXPECT_EQ(repair_multifile(program.storage(), kPath, {}, health).code(), Code::corrupt_file);

  EXPECT_EQ(health.damaged_logical, 1U);
}

}  // namespace
}  // namespace thalweg::test
