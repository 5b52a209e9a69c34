// Partial results of io_uring, replaced by hooks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <thread>

#include "storage/io_queue.hpp"
#include "storage/uring_seam.hpp"
#include "support/engine/aligned_buffer.hpp"
#include "support/engine/storage_kinds.hpp"

namespace thalweg {
namespace {

int answers = 0;

class UringQueue : public StorageTest {
 protected:
  void SetUp() override {
    if (!uring_available()) GTEST_SKIP() << "no io_uring here";
    use(storage_kinds().front());
    OpenOptions options{.read = true, .write = true, .create = true};
    file_ = backend_->open(path(), options).value();
    queue_ = make_uring_queue(8).value();
    answers = 0;
  }
  void TearDown() override { uring_seam() = {}; }

  IoTransfer transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) {
    IoTransfer out;
    out.file = file_.get();
    out.direction = direction;
    out.offset = offset;
    out.pieces = pieces;
    return out;
  }
  void finish(IoTransfer& transfer) {
    for (int i = 0; i < 100 && !transfer.done; ++i) queue_->wait(std::chrono::milliseconds(100));
    ASSERT_TRUE(transfer.done);
    EXPECT_EQ(queue_->in_flight(), 0u);
  }
  IoTransfer run(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) {
    IoTransfer out = transfer(direction, offset, pieces);
    EXPECT_TRUE(queue_->submit(out));
    finish(out);
    return out;
  }
  // Writes and reads back through the ring; both must move all bytes.
  void expect_round_trip() {
    Bytes data = noise(30000, 1), back(data.size() + 10);
    std::vector<Piece> from, to;
    for (std::size_t at = 0; at < data.size(); at += 1000) from.push_back({data.data() + at, 1000});
    to = {{back.data(), 12345}, {nullptr, 0}, {back.data() + 12345, back.size() - 12345}};

    const IoTransfer written = run(Direction::write, 7, from);
    const IoTransfer got = run(Direction::read, 7, to);

    EXPECT_OK(written.status);
    EXPECT_EQ(written.moved, data.size());
    EXPECT_OK(got.status);
    EXPECT_EQ(got.moved, data.size());
    back.resize(data.size());
    EXPECT_EQ(back, data);
    EXPECT_EQ(read(*file_, 7, data.size() + 1), data);
  }

  std::unique_ptr<StoredFile> file_;
  std::unique_ptr<IoQueue> queue_;
};

TEST_F(UringQueue, SplitsWhatIsMoreThanTheKernelTakes) {
  uring_seam().most_at_once = 777;
  uring_seam().answer = [](int given) { return ++answers, given; };

  expect_round_trip();

  EXPECT_GE(answers, 2 * 30000 / 777);
}

TEST_F(UringQueue, ContinuesShortTransfers) {
  uring_seam().answer = [](int given) { return given > 100 ? given / 3 : given; };

  expect_round_trip();
}

TEST_F(UringQueue, TriesAgainWhatWasInterruptedOrCancelledOrBusy) {
  uring_seam().answer = [](int given) {
    constexpr int errors[] = {EINTR, EAGAIN, ECANCELED};
    return ++answers % 2 == 1 ? -errors[answers / 2 % 3] : std::min(given, 4000);
  };

  expect_round_trip();
}

TEST_F(UringQueue, LeavesToTheFileWhatIsBusyForEver) {
  uring_seam().answer = [](int) { return ++answers, -EAGAIN; };

  expect_round_trip();

  EXPECT_LT(answers, 100);
}

TEST_F(UringQueue, TellsWhatFailedAndHowFarItCame) {
  uring_seam().answer = [](int given) { return ++answers == 1 ? std::min(given, 4096) : -ENOSPC; };
  Bytes data = noise(10000, 2);
  const Piece piece{data.data(), data.size()};

  const IoTransfer failed = run(Direction::write, 100, std::span(&piece, 1));

  EXPECT_EQ(failed.moved, 4096u);
  EXPECT_EQ(failed.status.code(), Code::no_space);
  EXPECT_EQ(failed.status.os_errno(), ENOSPC);
  EXPECT_EQ(failed.status.message(),
            "cannot write 5904 bytes at offset 4196 of '" + path() + "': No space left on device");
  EXPECT_EQ(read(*file_, 100, 4096), Bytes(data.begin(), data.begin() + 4096));
}

TEST_F(UringQueue, AWriteThatTakesNothingFails) {
  uring_seam().answer = [](int) { return 0; };
  Bytes data = noise(100, 3);
  const Piece piece{data.data(), data.size()};

  EXPECT_EQ(run(Direction::write, 0, std::span(&piece, 1)).status.os_errno(), EIO);
}

TEST_F(UringQueue, GoesOnFromTheLastBlockPastThePageCache) {
  const std::uint32_t alignment = file_->direct_alignment();
  if (alignment == 0) GTEST_SKIP() << "no direct I/O here";
  const AlignedBuffer memory = AlignedBuffer::make(std::size_t{64} * alignment, alignment).value();
  const Bytes data = noise(memory.size(), 4);
  std::copy(data.begin(), data.end(), memory.data());
  const Piece piece{memory.data(), memory.size()};
  uring_seam().answer = [](int given) { return given > 5000 ? given / 2 - 1 : given; };

  for (const Direction direction : {Direction::write, Direction::read}) {
    IoTransfer direct = transfer(direction, 0, std::span(&piece, 1));
    direct.direct = true;
    EXPECT_TRUE(queue_->submit(direct));
    finish(direct);
    EXPECT_OK(direct.status);
    EXPECT_EQ(direct.moved, memory.size());
    EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.data()));
    std::fill_n(memory.data(), memory.size(), std::byte{0});
  }
}

TEST_F(UringQueue, OutlivesTheThreadThatSubmitted) {
  Bytes data = noise(1 << 20, 6);
  const Piece piece{data.data(), data.size()};
  IoTransfer polled = transfer(Direction::write, 0, std::span(&piece, 1));
  IoTransfer gathered = transfer(Direction::write, data.size(), std::span(&piece, 1));
  std::thread([&] {
    EXPECT_TRUE(queue_->submit(polled));
    queue_->poll();
    EXPECT_TRUE(queue_->submit(gathered));
  }).join();

  finish(gathered);
  finish(polled);

  EXPECT_OK(polled.status);
  EXPECT_OK(gathered.status);
  EXPECT_EQ(read(*file_, data.size(), data.size() + 1), data);
}

TEST_F(UringQueue, FinishesBeforeItGoes) {
  Bytes data = noise(1 << 20, 7);
  const Piece piece{data.data(), data.size()};
  IoTransfer transfers[3];
  for (std::size_t i = 0; i < 3; ++i) {
    transfers[i] = transfer(Direction::write, i * data.size(), std::span(&piece, 1));
    EXPECT_TRUE(queue_->submit(transfers[i]));
  }

  queue_.reset();

  for (const IoTransfer& each : transfers) EXPECT_TRUE(each.done && each.status.ok());
  EXPECT_EQ(read(*file_, 2 * data.size(), data.size()), data);
}

TEST_F(UringQueue, WaitsNoLongerThanToldAndNotForNothing) {
  const auto start = std::chrono::steady_clock::now();
  queue_->wait(std::chrono::hours(1));
  queue_->wait(std::chrono::microseconds::max());

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(UringQueue, NeedsRoomForOneTransfer) {
  EXPECT_EQ(make_uring_queue(0).status().code(), Code::invalid_argument);
  EXPECT_TRUE(make_uring_queue(1).has_value());
  EXPECT_TRUE(make_uring_queue(1000).has_value());
}

// In a process of its own, as a process reads the setting once.
TEST(UringQueueDeathTest, CanBeSwitchedOff) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ASSERT_EQ(::setenv("THALWEG_URING", "0", 1), 0);
  EXPECT_EXIT(std::exit(!uring_available() && make_uring_queue(4).status().code() == Code::not_built ? 0 : 1),
              testing::ExitedWithCode(0), "");
  ::unsetenv("THALWEG_URING");
}

}  // namespace
}  // namespace thalweg
