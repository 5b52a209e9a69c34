// Storage in virtual time: servers, locks, and the clocks of tasks.
#include "sim/sim_storage.hpp"
#include "sim/forwarding_file.hpp"
#include "sim/memory_backend.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace thalweg::test {
namespace {

// Costs that can be added by hand: two servers with stripes of 100 bytes.
SimStorageCosts plain_costs() {
  SimStorageCosts costs;
  costs.servers = 2;
  costs.stripe_bytes = 100;
  costs.lock_bytes = 0;
  costs.request_ns = 10;
  costs.server_ns = 1000;
  costs.byte_ns = 1;
  costs.handover_ns = 100'000;
  costs.open_ns = 7;
  costs.create_ns = 70;
  return costs;
}

class SimStorageTest : public testing::Test {
 protected:
  SimStorageTest() { ledger_.tasks.resize(3); }
  std::shared_ptr<SimStorage> make(const SimStorageCosts& costs) { return SimStorage::make(memory_, costs, ledger_); }
  double clock(std::size_t task) const { return ledger_.tasks[task].clock_ns; }

  std::shared_ptr<Backend> memory_ = make_memory_backend();
  SimLedger ledger_;
};

TEST_F(SimStorageTest, AServerServesOneOperationAfterTheOther) {
  const auto storage = make(plain_costs());

  EXPECT_DOUBLE_EQ(storage->transfer(0, Direction::write, 0, 0, 0, 50), 1000 + 50 + 10);
  EXPECT_DOUBLE_EQ(storage->transfer(0, Direction::write, 1, 0, 50, 50), 2 * (1000 + 50) + 10);
  EXPECT_DOUBLE_EQ(storage->transfer(9000, Direction::write, 1, 0, 0, 50), 9000 + 1000 + 50 + 10);
}

TEST_F(SimStorageTest, ServersWorkAtTheSameTime) {
  const auto storage = make(plain_costs());

  EXPECT_DOUBLE_EQ(storage->transfer(0, Direction::write, 0, 0, 0, 200), 1000 + 100 + 10);
  EXPECT_DOUBLE_EQ(storage->transfer(0, Direction::read, 0, 0, 0, 400), 3 * (1000 + 100) + 10);
}

TEST_F(SimStorageTest, TheMetadataServerTakesRequestsInGapsBetweenOthers) {
  const auto storage = make(plain_costs());

  EXPECT_DOUBLE_EQ(storage->metadata(1000, true), 1000 + 70 + 10);  // free from 0 to 1000
  EXPECT_DOUBLE_EQ(storage->metadata(0, true), 70 + 10);
  EXPECT_DOUBLE_EQ(storage->metadata(0, true), 140 + 10);
  EXPECT_DOUBLE_EQ(storage->metadata(940, true), 1070 + 70 + 10);  // 60 are too few
  EXPECT_DOUBLE_EQ(storage->metadata(940, false), 940 + 7 + 10);
  EXPECT_DOUBLE_EQ(storage->metadata(940, false), 947 + 7 + 10);
  EXPECT_DOUBLE_EQ(storage->metadata(1000, false), 1140 + 7 + 10);
}

TEST_F(SimStorageTest, MetadataRequestsAtOnceWaitForEachOtherAfterIdleTime) {
  const auto storage = make(plain_costs());

  (void)storage->metadata(9000, true);
  for (int i = 1; i < 100; ++i) EXPECT_DOUBLE_EQ(storage->metadata(9000, true), 9000 + 70 * (i + 1) + 10);
  storage->begin_at(20'000);
  EXPECT_DOUBLE_EQ(storage->metadata(0, true), 20'000 + 70 + 10) << "gaps are forgotten";
}

// Clients whose tasks are carried out one after the other, each with two transfers, work at the same time.
TEST_F(SimStorageTest, ServersAndLinksTakeTransfersInGapsBetweenOthers) {
  SimStorageCosts costs = plain_costs();
  costs.client_byte_ns = 100;
  const auto storage = make(costs);

  for (std::int64_t client = 0; client < 4; ++client) {
    const double first = storage->transfer(0, Direction::write, client, 0, 0, 100);
    const double second = storage->transfer(first, Direction::write, client, 0, 200, 100);
    EXPECT_LE(second, 2 * (100 * 100 + 10) + 4 * 1100) << client;
  }
}

TEST_F(SimStorageTest, ALockUnitOfAnotherClientIsWaitedFor) {
  SimStorageCosts costs = plain_costs();
  costs.lock_bytes = 100;
  const auto storage = make(costs);
  const auto takes = [&](Direction direction, std::int64_t client) {
    static double now = 0;
    now += 1e9;  // long after the previous operations
    return storage->transfer(now, direction, client, 0, 0, 100) - now;
  };
  const double alone = 1000 + 100 + 10;

  EXPECT_DOUBLE_EQ(takes(Direction::write, 1), alone);
  EXPECT_DOUBLE_EQ(takes(Direction::write, 1), alone);
  EXPECT_DOUBLE_EQ(takes(Direction::write, 2), alone + 100'000);
  EXPECT_DOUBLE_EQ(takes(Direction::read, 1), alone + 100'000);
  EXPECT_DOUBLE_EQ(takes(Direction::read, 3), alone);
  EXPECT_DOUBLE_EQ(takes(Direction::write, 3), alone + 100'000);
}

TEST_F(SimStorageTest, ACallKeepsItsTaskWaitingAndMovesItsBytes) {
  const auto backend = make(plain_costs())->backend_of(1, 1);
  auto file = backend->open("a", OpenMode::create).value();
  EXPECT_DOUBLE_EQ(clock(1), 70 + 10);
  const std::vector<std::byte> data(30, std::byte{5});
  ASSERT_TRUE(file->write(0, data).ok());

  EXPECT_DOUBLE_EQ(clock(1), 80 + 1000 + 30 + 10);
  EXPECT_DOUBLE_EQ(clock(0), 0);
  std::vector<std::byte> got(30);
  EXPECT_EQ(memory_->open("a", OpenMode::read).value()->read(0, got).value(), 30u);
  EXPECT_EQ(got, data);
}

TEST_F(SimStorageTest, OnlyWhatIsMadeIsAsDearAsMaking) {
  const auto backend = make(plain_costs())->backend_of(0, 0);
  ASSERT_TRUE(backend->open("a", OpenMode::create).has_value());
  const double made = clock(0);
  ASSERT_TRUE(backend->open("a", OpenMode::read).has_value());

  EXPECT_DOUBLE_EQ(clock(0) - made, 7 + 10);
}

// Two transfers on the queue of one task.
class SimQueueTest : public SimStorageTest {
 protected:
  SimQueueTest() {
    ledger_.looks = 1;
    queue_ = storage_->queue_of(0, 0, 2);
    file_ = storage_->backend_of(0, 0)->open("a", OpenMode::create).value();
    begin_ = clock(0);
    for (std::size_t i = 0; i < 2; ++i) {
      transfers_[i].file = file_.get();
      transfers_[i].direction = Direction::write;
      transfers_[i].offset = i * 100;
      pieces_[i] = {memory_of_task_.data(), i == 0 ? 100U : 40U};
      transfers_[i].pieces = {&pieces_[i], 1};
    }
  }
  void look() {
    ++ledger_.looks;
    queue_->poll();
  }

  std::shared_ptr<SimStorage> storage_ = make(plain_costs());
  std::unique_ptr<IoQueue> queue_;
  std::unique_ptr<StoredFile> file_;
  std::array<std::byte, 100> memory_of_task_{};
  std::array<Piece, 2> pieces_;
  std::array<IoTransfer, 3> transfers_;
  double begin_ = 0;
};

TEST_F(SimQueueTest, TheTaskGoesOnWhileTransfersAreOnTheirWay) {
  ASSERT_TRUE(queue_->submit(transfers_[0]));
  ASSERT_TRUE(queue_->submit(transfers_[1]));

  EXPECT_FALSE(queue_->submit(transfers_[2]));
  EXPECT_FALSE(transfers_[0].done);
  EXPECT_DOUBLE_EQ(clock(0), begin_);
}

TEST_F(SimQueueTest, TheFirstToEndIsHeardOfFirst) {
  ASSERT_TRUE(queue_->submit(transfers_[0]));
  ASSERT_TRUE(queue_->submit(transfers_[1]));
  look();
  queue_->poll();  // at the same virtual time

  EXPECT_TRUE(transfers_[1].done);
  EXPECT_FALSE(transfers_[0].done);
  EXPECT_DOUBLE_EQ(clock(0), begin_ + 1000 + 40 + 10);
  look();
  EXPECT_TRUE(transfers_[0].done);
  EXPECT_EQ(transfers_[0].moved, 100u);
  EXPECT_DOUBLE_EQ(clock(0), begin_ + 1000 + 100 + 10);
}

TEST_F(SimQueueTest, ATaskInACollectiveHearsOfNothing) {
  ASSERT_TRUE(queue_->submit(transfers_[0]));
  ledger_.tasks[0].collectives = 1;
  look();
  EXPECT_FALSE(transfers_[0].done);
  EXPECT_DOUBLE_EQ(clock(0), begin_);

  ledger_.nobody_can_go_on = true;
  look();
  EXPECT_TRUE(transfers_[0].done);
}

// A file that tells which calls it gets; each has another answer than UnsharedFile.
class TellingFile final : public StoredFile {
 public:
  explicit TellingFile(std::vector<std::string>& calls) : calls_(calls) {}
  Result<std::uint64_t> transfer(Direction, std::uint64_t, std::span<const Piece>) override { return told("transfer"); }
  Result<std::uint64_t> transfer_direct(Direction, std::uint64_t, std::span<const Piece>) override {
    return told("transfer_direct");
  }
  std::uint32_t direct_alignment() override { return told("direct_alignment"); }
  Result<std::uint64_t> size() override { return told("size"); }
  Status truncate(std::uint64_t) override { return refused("truncate"); }
  Status preallocate(std::uint64_t, std::uint64_t) override { return refused("preallocate"); }
  Status release(std::uint64_t, std::uint64_t) override { return refused("release"); }
  Status sync() override { return refused("sync"); }
  Status forget_cached() override { return refused("forget_cached"); }
  Result<std::uint64_t> next_data(std::uint64_t) override { return told("next_data"); }
  Status lock_session() override { return refused("lock_session"); }
  bool locks_reach_all() const override { return told("locks_reach_all") == 0; }
  Result<std::string> look() override { return refused("look"); }
  Status join_writers() override { return refused("join_writers"); }
  Result<bool> has_its_name() override { return told("has_its_name") == 0; }
  Status close() override { return refused("close"); }
  const std::string& path() const override { return path_; }

 private:
  std::uint32_t told(const char* call) const {
    calls_.emplace_back(call);
    return 7;
  }
  Status refused(const char* call) const {
    told(call);
    return Status::error(Code::io_error, "{}", call);
  }
  std::vector<std::string>& calls_;
  const std::string path_ = "telling";
};

TEST(ForwardingFile, PassesEveryCallOn) {
  std::vector<std::string> calls;
  ForwardingFile file(std::make_shared<TellingFile>(calls));

  EXPECT_EQ(file.transfer(Direction::read, 0, {}).value(), 7u);
  EXPECT_EQ(file.transfer_direct(Direction::read, 0, {}).value(), 7u);
  EXPECT_EQ(file.direct_alignment(), 7u);
  EXPECT_EQ(file.size().value(), 7u);
  EXPECT_EQ(file.next_data(0).value(), 7u);
  EXPECT_FALSE(file.locks_reach_all());
  EXPECT_FALSE(file.has_its_name().value());
  for (const Status& status :
       {file.truncate(0), file.preallocate(0, 0), file.release(0, 0), file.sync(), file.forget_cached(),
        file.lock_session(), file.look().status(), file.join_writers(), file.close()})
    EXPECT_EQ(status.code(), Code::io_error) << calls.back();
  EXPECT_EQ(file.path(), "telling");
  EXPECT_EQ(calls.size(), 16u);
}

TEST(HollowBackend, KeepsLengthsAndNoBytes) {
  const auto backend = make_hollow_backend();
  auto file = backend->open("a", OpenMode::create).value();
  const std::vector<std::byte> data(10, std::byte{5});
  ASSERT_TRUE(file->write(90, data).ok());
  std::vector<std::byte> got(20, std::byte{7});

  EXPECT_EQ(file->size().value(), 100u);
  EXPECT_EQ(file->read(85, got).value(), 15u);
  EXPECT_EQ(got, std::vector<std::byte>(20, std::byte{7}));
  EXPECT_EQ(backend->open("b", OpenMode::read).status().code(), Code::not_found);
  EXPECT_EQ(backend->open("a", OpenMode::create_exclusive).status().code(), Code::already_exists);
}

}  // namespace
}  // namespace thalweg::test
