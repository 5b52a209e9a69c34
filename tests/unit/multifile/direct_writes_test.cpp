// DirectWrites: which bytes go past the page cache, what is written behind them, and failures.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <numeric>

#include "multifile/write/chunk_writer.hpp"
#include "multifile/write/direct_writes.hpp"
#include "sim/memory_backend.hpp"
#include "support/engine/late_queue.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kTransfer = 64 * 1024;
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class Direct : public testing::Test {
 protected:
  Ranges writes() const {
    Ranges all;
    for (const CallRecord& call : storage_->records())
      if (call.kind == CallKind::write) all.emplace_back(call.offset, call.bytes);
    return all;
  }
  std::span<const std::byte> bytes(std::uint64_t begin, std::uint64_t n) const {
    return std::span(data_).subspan(begin, n);
  }
  Status write(std::uint64_t begin, std::uint64_t n) { return writes_->write(*file_, begin, bytes(begin, n)); }
  std::vector<std::byte> stored(std::uint64_t begin, std::uint64_t n) {
    std::vector<std::byte> got(n);
    EXPECT_EQ(file_->read(begin, got).value(), n);
    return got;
  }
  void expect_stored(std::uint64_t begin, std::uint64_t n) {
    EXPECT_TRUE(std::ranges::equal(stored(begin, n), bytes(begin, n)));
  }
  void fail_from(std::uint64_t call) {
    storage_->restart({.rules = {{.kind = CallKind::write, .at = call, .os_errno = EIO}}, .record = true});
  }
  void SetUp() override {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::byte>(i * 31 % 251);
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(10 * kTransfer);
  std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend(), {.record = true});
  std::unique_ptr<StoredFile> file_ = storage_->open("data", OpenMode::create).value();
  const DirectSettings settings_{kTransfer, 2, 1};
  std::shared_ptr<DirectWrites> writes_ = std::make_shared<DirectWrites>(settings_);
};

TEST_F(Direct, SmallWritesInARowBecomeLargeTransfers) {
  for (std::uint64_t at = 0; at < 2 * kTransfer; at += 8192) ASSERT_TRUE(write(at, 8192).ok());
  EXPECT_EQ(writes(), (Ranges{{0, kTransfer}, {kTransfer, kTransfer}}));
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(writes().size(), 2U);
  expect_stored(0, 2 * kTransfer);
}

TEST_F(Direct, OnlyWholeBlocksGoPastThePageCache) {
  ASSERT_TRUE(write(1000, 20'000).ok());
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(writes(), (Ranges{{1000, 3096}, {20480, 520}, {4096, 16384}}));
  ASSERT_TRUE(write(21'000, 100).ok());
  ASSERT_TRUE(writes_->finish().ok());
  expect_stored(1000, 20'100);
}

TEST_F(Direct, WritesElsewhereBeginANewTransfer) {
  ASSERT_TRUE(write(0, 8192).ok());
  ASSERT_TRUE(write(40'960, 4096).ok());
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(writes(), (Ranges{{0, 8192}, {40'960, 4096}}));
}

TEST_F(Direct, WhatIsWrittenBehindComesAfterTheData) {
  ASSERT_TRUE(write(4096, 4096).ok());
  writes_->write_behind(*file_, 128, bytes(0, 32));
  writes_->write_behind(*file_, 192, bytes(0, 64));
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(writes(), (Ranges{{4096, 4096}, {128, 32}, {192, 64}}));
}

TEST_F(Direct, NothingIsWrittenBehindDataThatFailed) {
  fail_from(1);
  ASSERT_TRUE(write(4096, 4096).ok());  // in the buffer
  writes_->write_behind(*file_, 128, bytes(0, 32));
  EXPECT_EQ(writes_->finish().code(), Code::io_error);
  EXPECT_EQ(writes(), (Ranges{{4096, 4096}}));
  EXPECT_EQ(write(8192, 4096).code(), Code::io_error);
  EXPECT_EQ(writes_->finish().code(), Code::io_error);
}

TEST_F(Direct, AFailedEdgeIsNotTriedAgain) {
  fail_from(2);
  EXPECT_EQ(write(0, kTransfer + 100).code(), Code::io_error);
  EXPECT_EQ(write(0, kTransfer + 100).code(), Code::io_error);
  EXPECT_EQ(writes_->finish().code(), Code::io_error);
  EXPECT_EQ(writes(), (Ranges{{0, kTransfer}, {kTransfer, 100}}));
}

TEST_F(Direct, WhatIsWrittenBehindIsBounded) {
  for (int i = 0; i < 100; ++i) {
    writes_->write_behind(*file_, 600'000, bytes(0, 100'000));
    ASSERT_TRUE(write(static_cast<std::uint64_t>(i) * 4096, 4096).ok());
  }
  EXPECT_GT(writes().size(), 50U);
}

// Takes two transfers, and completes the older one only where somebody waits.
class HeldQueue final : public IoQueue {
 public:
  explicit HeldQueue(int& waits) : waits_(waits) {}

  bool submit(IoTransfer& transfer) override {
    if (held_.size() == 2) return false;
    held_.push_back(&transfer);
    return true;
  }
  void poll() override {}
  void wait(std::chrono::microseconds) override {
    if (held_.empty()) return;
    ++waits_;
    carry_out(*held_.front());
    held_.front()->done = true;
    held_.erase(held_.begin());
  }
  std::size_t in_flight() const override { return held_.size(); }
  const char* name() const override { return "held"; }

 private:
  int& waits_;
  std::vector<IoTransfer*> held_;
};

class DirectInFlight : public Direct {
 protected:
  void SetUp() override {
    Direct::SetUp();
    auto queue = std::make_unique<HeldQueue>(waits_);
    queue_ = queue.get();
    writes_ = std::make_shared<DirectWrites>(settings_, nullptr, std::move(queue));
  }

  int waits_ = 0;
  HeldQueue* queue_ = nullptr;
};

TEST_F(DirectInFlight, AThirdBufferIsFilledMeanwhile) {
  ASSERT_TRUE(write(0, 2 * kTransfer).ok());
  EXPECT_EQ(queue_->in_flight(), 2U);
  ASSERT_TRUE(write(2 * kTransfer, kTransfer - 1).ok());
  EXPECT_EQ(waits_, 0);
  EXPECT_TRUE(writes().empty());
  ASSERT_TRUE(write(3 * kTransfer - 1, 1).ok());  // it is full, and the queue, too
  EXPECT_EQ(waits_, 1);
  EXPECT_EQ(queue_->in_flight(), 2U);
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(queue_->in_flight(), 0U);
  expect_stored(0, 3 * kTransfer);
}

TEST_F(DirectInFlight, NothingIsWrittenBehindOneThatFailedWhileAnotherOneWentOn) {
  for (const std::uint64_t failing : {1, 2, 3}) {
    fail_from(failing);
    SetUp();
    ASSERT_TRUE(write(0, 2 * kTransfer).ok());
    writes_->write_behind(*file_, 600'000, bytes(0, 32));
    const Status third = write(2 * kTransfer, 2 * kTransfer);
    EXPECT_EQ(third.code(), failing == 1 ? Code::io_error : Code::ok) << "the first one is complete by now";
    EXPECT_EQ(queue_->in_flight(), 2U);
    EXPECT_EQ(writes_->finish().code(), Code::io_error);
    EXPECT_EQ(queue_->in_flight(), 0U) << "the memory of those in flight is not freed before";
    const Ranges all = writes();
    EXPECT_TRUE(std::ranges::none_of(all, [](const auto& range) { return range.first == 600'000; })) << failing;
    EXPECT_EQ(write(0, kTransfer).code(), Code::io_error);
  }
}

// Transfers that complete in any order.
TEST_F(Direct, WhatIsWrittenBehindComesAfterAllTransfersInFlight) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const bool fails = seed % 2 == 1;
    storage_->restart({.rules = {}, .record = true});
    if (fails) fail_from(1 + seed / 2 % 8);
    writes_ = std::make_shared<DirectWrites>(settings_, nullptr, std::make_unique<LateQueue>(seed, 2));
    Status status;
    for (std::uint64_t at = 0; at < 8 * kTransfer && status.ok(); at += 40'000) {
      status = write(at, std::min<std::uint64_t>(40'000, 8 * kTransfer - at));
      if (at % 3 == 0) writes_->write_behind(*file_, 9 * kTransfer + at / 40'000, bytes(at, 1));
    }
    EXPECT_EQ(status.or_else(writes_->finish()).code(), fails ? Code::io_error : Code::ok) << seed;
    const Ranges all = writes();
    const auto behind = [](const auto& range) { return range.first >= 9 * kTransfer; };
    EXPECT_TRUE(std::ranges::is_partitioned(all, std::not_fn(behind))) << seed;
    EXPECT_EQ(std::ranges::any_of(all, behind), !fails) << seed;
    if (!fails) expect_stored(0, 8 * kTransfer);
  }
}

class DirectChunk : public Direct {
 protected:
  void SetUp() override {
    Direct::SetUp();
    WriteCommon common;
    common.direct = settings_;
    format::FileHeader header;
    header.alignment = 4096;
    header.granule = 65536;
    DomainShare share;
    share.layout.data_start = 65536;
    share.layout.domain_bytes = share.layout.round_bytes = 16 << 20;
    physical_ =
        std::make_unique<PhysicalWriter>(storage_->open("chunks", OpenMode::create).value(), header, share, common);
    chunk_ =
        std::make_unique<ChunkWriter>(*physical_, physical_->place_chunk({}, 8 << 20, false, true).value(), writes_);
  }
  std::uint64_t n_released() const { return storage_->calls(CallKind::release); }

  std::unique_ptr<PhysicalWriter> physical_;
  std::unique_ptr<ChunkWriter> chunk_;
};

TEST_F(DirectChunk, GivesBackWhatWasReservedForMore) {
  EXPECT_EQ(chunk_->append(bytes(0, 100'000)).value(), 100'000U);
  chunk_->give_back();
  ASSERT_EQ(n_released(), 1U);
  chunk_->give_back();
  EXPECT_EQ(n_released(), 1U);
}

// A failed reservation keeps the blocks that it got. Those ahead of the data would be missing elsewhere.
TEST_F(DirectChunk, LeavesTheRestOfAFullDiskToOthers) {
  storage_->restart({.space_bytes = 200'000});
  EXPECT_EQ(chunk_->append(bytes(0, 100'000)).value(), 100'000U);
  EXPECT_TRUE(file_->write(0, bytes(0, 90'000)).ok());
  EXPECT_EQ(chunk_->append(bytes(0, 100'000)).status().code(), Code::no_space);
}

// Two packs are on their way before the flush: each frame that says "pack" comes after the payload.
TEST_F(DirectChunk, APackCountsOnceItsPayloadHasArrived) {
  storage_->restart({.record = true});
  for (int i = 0; i < 2; ++i) {
    for (int piece = 0; piece < 3; ++piece)
      ASSERT_TRUE(physical_->pack({.stored_bytes = 400'000}, bytes(0, 400'000)).has_value());
  }
  const Ranges before = writes();
  EXPECT_TRUE(std::ranges::any_of(before, [](const auto& range) { return range.second == kTransfer; }));
  ASSERT_TRUE(physical_->flush_pack().ok());
  const Ranges all = writes();
  EXPECT_EQ(all.back().second, format::kFrameBytes);
  const auto frames = std::ranges::count_if(all, [](const auto& range) { return range.second == format::kFrameBytes; });
  const auto marks =
      std::ranges::count_if(before, [](const auto& range) { return range.second == format::kFrameBytes; });
  EXPECT_EQ(frames, 2 * 3);  // two pieces in each of three packs; a frame takes the space, another one says what it is
  EXPECT_EQ(marks, 2);
}

TEST_F(DirectChunk, AFailedPayloadLeavesNoPack) {
  ASSERT_TRUE(physical_->pack({.stored_bytes = 400'000}, bytes(0, 400'000)).has_value());
  fail_from(2);  // the first one takes the space
  EXPECT_EQ(physical_->flush_pack().code(), Code::io_error);
  EXPECT_EQ(physical_->sync().code(), Code::io_error);
  const Ranges all = writes();
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& range) { return range.second == format::kFrameBytes; }), 1);
}

TEST_F(Direct, TheNextOneFinishesAndFailsAsTheOneBefore) {
  ASSERT_TRUE(write(0, 8192).ok());
  writes_->write_behind(*file_, 500'000, bytes(0, 32));
  const auto before = std::exchange(writes_, std::make_shared<DirectWrites>(settings_, writes_));
  ASSERT_TRUE(write(8192, 4096).ok());
  writes_->write_behind(*file_, 500'000, bytes(32, 32));
  ASSERT_TRUE(writes_->finish().ok());
  EXPECT_EQ(writes(), (Ranges{{0, 8192}, {500'000, 32}, {8192, 4096}, {500'000, 32}}));
  EXPECT_TRUE(before->finish().ok());

  fail_from(1);
  ASSERT_TRUE(write(12'288, 4096).ok());
  DirectWrites next(settings_, writes_);
  EXPECT_EQ(next.finish().code(), Code::io_error);
  EXPECT_EQ(writes_->finish().code(), Code::io_error);
}

}  // namespace
}  // namespace thalweg::test
