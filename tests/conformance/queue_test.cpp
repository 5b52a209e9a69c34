// The contract of queues, on every storage.
#include <gtest/gtest.h>
#include <limits.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "storage/posix_queue.hpp"
#include "support/engine/aligned_buffer.hpp"
#include "support/engine/storage_kinds.hpp"
#include "support/memory/virtual_memory.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg {
namespace {

constexpr unsigned kDepth = 4;

std::unique_ptr<IoQueue> make_queue(const std::string& name, unsigned depth = kDepth) {
  if (name == "thread") return make_thread_queue(depth);
  return name == "posix" ? std::make_unique<PosixQueue>() : make_uring_queue(depth).value();
}

using Combination = std::tuple<StorageKind, std::string>;

class QueueConformance : public StorageTest, public testing::WithParamInterface<Combination> {
 protected:
  void SetUp() override {
    const auto& [storage, queue] = GetParam();
    if (queue == "uring" && !uring_available()) GTEST_SKIP() << "no io_uring here";
    use(storage);
    if (IsSkipped()) return;
    queue_ = make_queue(queue);
    file_ = open_kept({.read = true, .write = true, .create = true});
  }
  std::unique_ptr<StoredFile> open_kept(OpenOptions options) {
    auto file = backend_->open(path(), options);
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return file.has_value() ? std::move(file).value() : nullptr;
  }
  IoTransfer transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) {
    IoTransfer out;
    out.file = file_.get();
    out.direction = direction;
    out.offset = offset;
    out.pieces = pieces;
    return out;
  }
  void submit(IoTransfer& transfer) {
    for (int i = 0; i < 1000 && !queue_->submit(transfer); ++i) queue_->wait(std::chrono::milliseconds(100));
  }
  void finish(IoTransfer& transfer) {
    for (int i = 0; i < 1000 && !transfer.done; ++i) queue_->wait(std::chrono::milliseconds(100));
    ASSERT_TRUE(transfer.done);
  }
  IoTransfer run(Direction direction, std::uint64_t offset, std::span<const Piece> pieces, bool direct = false) {
    IoTransfer out = transfer(direction, offset, pieces);
    out.direct = direct;
    submit(out);
    finish(out);
    return out;
  }
  IoTransfer run(Direction direction, std::uint64_t offset, const Piece& piece, bool direct = false) {
    return run(direction, offset, std::span(&piece, 1), direct);
  }

  std::unique_ptr<StoredFile> file_;
  std::unique_ptr<IoQueue> queue_;
};

Piece piece_of(Bytes& bytes) { return {bytes.data(), bytes.size()}; }

// A transfer with memory of its own, in random pieces, some of them empty.
struct RandomTransfer {
  Bytes memory;
  std::vector<Piece> pieces;
  IoTransfer io;
  RandomTransfer(std::size_t bytes, std::mt19937& random) : memory(noise(bytes, static_cast<unsigned>(random()))) {
    for (std::size_t at = 0; at < bytes;) {
      const std::size_t n = std::min<std::size_t>(random() % 3 == 0 ? random() % 20 : random() % 3000, bytes - at);
      pieces.push_back({n == 0 && random() % 2 == 0 ? nullptr : memory.data() + at, n});
      at += n;
    }
  }
};

TEST_P(QueueConformance, FollowsAModelThroughRandomTransfers) {
  std::mt19937 random(1);
  Bytes model;
  for (int round = 0; round < 40; ++round) {
    const bool writes = round % 2 == 0;
    std::deque<RandomTransfer> batch;  // more than the queue has room for
    std::uint64_t at = random() % 5000;
    for (int i = 0; i < 12; ++i) {
      RandomTransfer& next = batch.emplace_back(random() % 20000, random);
      next.io = transfer(writes ? Direction::write : Direction::read, at, next.pieces);
      submit(next.io);
      at += writes ? next.memory.size() + random() % 3 * (random() % 9000) : random() % 30000;
    }
    for (RandomTransfer& each : batch) {
      finish(each.io);
      EXPECT_OK(each.io.status);
      const std::size_t from = std::min<std::size_t>(each.io.offset, model.size());
      if (writes) {
        EXPECT_EQ(each.io.moved, each.memory.size());
        if (each.memory.empty()) continue;
        model.resize(std::max<std::size_t>(model.size(), each.io.offset + each.memory.size()));
        std::copy(each.memory.begin(), each.memory.end(), model.begin() + static_cast<std::ptrdiff_t>(each.io.offset));
      } else {
        const std::size_t there = std::min(each.memory.size(), model.size() - from);
        ASSERT_EQ(each.io.moved, there) << "round " << round;
        ASSERT_TRUE(std::equal(each.memory.begin(), each.memory.begin() + static_cast<std::ptrdiff_t>(there),
                               model.begin() + static_cast<std::ptrdiff_t>(from)))
            << "round " << round;
      }
    }
    ASSERT_EQ(file_->size().value(), model.size()) << "round " << round;
    ASSERT_EQ(queue_->in_flight(), 0u);
  }
}

TEST_P(QueueConformance, ReadsShortOnlyAtTheEnd) {
  Bytes data = noise(5000, 2), back(9000);
  EXPECT_EQ(run(Direction::write, 0, piece_of(data)).moved, 5000u);
  const Piece pieces[] = {{back.data(), 100}, {back.data() + 100, 8900}};

  EXPECT_EQ(run(Direction::read, 0, pieces).moved, 5000u);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin()));
  EXPECT_EQ(run(Direction::read, 4950, pieces).moved, 50u);
  const IoTransfer behind = run(Direction::read, 1 << 30, pieces);
  EXPECT_OK(behind.status);
  EXPECT_EQ(behind.moved, 0u);
}

TEST_P(QueueConformance, NothingIsDoneAtOnceAndChangesNothing) {
  const Piece nothing[3] = {};
  for (const Direction direction : {Direction::read, Direction::write}) {
    for (const std::size_t n : {0, 1, 3}) {
      const IoTransfer done = run(direction, 1000, std::span(nothing).first(n));
      EXPECT_OK(done.status);
      EXPECT_EQ(done.moved, 0u);
    }
  }
  EXPECT_EQ(file_->size().value(), 0u);
}

TEST_P(QueueConformance, TakesAsManyPiecesAsTheKernelAndMore) {
  for (const std::size_t n : {IOV_MAX - 1, IOV_MAX, IOV_MAX + 1, 3 * IOV_MAX + 7}) {
    Bytes data = noise(n * 3, 3), back(n * 3);
    std::vector<Piece> from, to;
    for (std::size_t i = 0; i < n; ++i) {
      from.push_back({data.data() + i * 3, 3});
      to.push_back({back.data() + (n - 1 - i) * 3, 3});
    }

    EXPECT_EQ(run(Direction::write, 1, from).moved, n * 3);
    EXPECT_EQ(run(Direction::read, 1, to).moved, n * 3);

    for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(std::equal(to[i].memory, to[i].memory + 3, from[i].memory)) << i;
  }
}

TEST_P(QueueConformance, SaysWhenItIsFullAndTakesMoreAfterwards) {
  Bytes data = noise(100000, 4);
  const Piece piece = piece_of(data);
  std::deque<IoTransfer> taken;
  for (std::uint64_t i = 0; i < 50; ++i) {
    taken.push_back(transfer(Direction::write, i * data.size(), std::span(&piece, 1)));
    if (queue_->submit(taken.back())) continue;
    taken.pop_back();
    break;
  }
  const bool holds = file_->descriptor(false) >= 0 && queue_->name() != std::string("posix");

  EXPECT_EQ(taken.size(), holds ? kDepth : 50u);
  EXPECT_EQ(queue_->in_flight(), holds ? kDepth : 0u);
  for (IoTransfer& each : taken) finish(each);
  EXPECT_EQ(queue_->in_flight(), 0u);
  EXPECT_EQ(run(Direction::write, 0, piece).moved, data.size());
}

TEST_P(QueueConformance, CompletesManyInAnyOrder) {
  constexpr std::size_t n = 64;
  Bytes data = noise(n * 9000, 5);
  std::vector<Piece> pieces;
  std::vector<IoTransfer> transfers;
  for (std::size_t i = 0; i < n; ++i) pieces.push_back({data.data() + i * 9000, i % 3 == 0 ? 9000u : 5u});
  for (std::size_t i = 0; i < n; ++i) transfers.push_back(transfer(Direction::write, i * 9000, {&pieces[i], 1}));
  std::shuffle(transfers.begin(), transfers.end(), std::mt19937(6));
  const auto queue = make_queue(std::get<1>(GetParam()), n);

  for (IoTransfer& each : transfers) EXPECT_TRUE(queue->submit(each));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (queue->in_flight() > 0 && std::chrono::steady_clock::now() < deadline) queue->poll();

  for (const IoTransfer& each : transfers) EXPECT_TRUE(each.done && each.status.ok());
  for (std::size_t i = 0; i < n; ++i) {
    const Bytes back = read(*file_, i * 9000, pieces[i].bytes);
    EXPECT_TRUE(std::equal(back.begin(), back.end(), pieces[i].memory)) << i;
  }
}

TEST_P(QueueConformance, OffsetsBeyondTheLargestAreRefused) {
  const std::uint64_t most = (std::uint64_t{1} << 63) - 1;
  Bytes data(10);
  const Piece piece = piece_of(data);
  const Piece too_many[] = {{data.data(), std::uint64_t{1} << 63}, {data.data(), std::uint64_t{1} << 63}};

  for (const Direction direction : {Direction::read, Direction::write}) {
    EXPECT_CODE(Code::out_of_range, run(direction, most - 5, piece).status);
    EXPECT_CODE(Code::out_of_range, run(direction, ~std::uint64_t{0} - 5, piece).status);
    EXPECT_CODE(Code::out_of_range, run(direction, 0, too_many).status);
  }
  EXPECT_EQ(file_->size().value(), 0u);
}

TEST_P(QueueConformance, KnowsWhatTheFileIsOpenFor) {
  Bytes data = noise(10, 7);
  const Piece piece = piece_of(data);
  EXPECT_OK(run(Direction::write, 0, piece).status);
  file_ = open_kept({.read = true});
  EXPECT_CODE(Code::wrong_mode, run(Direction::write, 0, piece).status);
  EXPECT_OK(run(Direction::read, 0, piece).status);
  file_ = open_kept({.read = false, .write = true});
  EXPECT_CODE(Code::wrong_mode, run(Direction::read, 0, piece).status);
  EXPECT_OK(run(Direction::write, 0, piece).status);

  EXPECT_OK(file_->close());
  EXPECT_CODE(Code::wrong_mode, run(Direction::read, 0, piece).status);
  EXPECT_CODE(Code::wrong_mode, run(Direction::write, 0, piece).status);
}

class DirectQueue : public QueueConformance {};

TEST_P(DirectQueue, RoundTripsAndEndsWithTheFile) {
  const std::uint64_t alignment = file_->direct_alignment();
  if (alignment == 0) GTEST_SKIP() << "no direct I/O here";
  constexpr std::size_t n = 40;
  AlignedBuffer memory = AlignedBuffer::make(n * alignment, alignment).value();
  const Bytes data = noise(memory.size(), 8);
  std::copy(data.begin(), data.end(), memory.data());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < n; ++i) pieces.push_back({memory.data() + (i * 7 % n) * alignment, alignment});

  EXPECT_EQ(run(Direction::write, 3 * alignment, pieces, true).moved, n * alignment);
  EXPECT_OK(file_->truncate((3 + n) * alignment - 100));
  std::fill_n(memory.data(), memory.size(), std::byte{0});
  const IoTransfer back = run(Direction::read, 3 * alignment, pieces, true);

  EXPECT_OK(back.status);
  EXPECT_EQ(back.moved, n * alignment - 100);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t at = (i * 7 % n) * alignment;
    const std::uint64_t bytes = i + 1 < n ? alignment : alignment - 100;
    EXPECT_TRUE(std::equal(data.data() + at, data.data() + at + bytes, memory.data() + at)) << i;
  }
}

TEST_P(QueueConformance, DirectTransfersMustBeAligned) {
  const std::uint64_t alignment = file_->direct_alignment() == 0 ? 4096 : file_->direct_alignment();
  const AlignedBuffer memory = AlignedBuffer::make(4 * alignment, alignment).value();
  const Piece good{memory.data(), alignment};

  EXPECT_CODE(Code::invalid_argument, run(Direction::write, 1, good, true).status);
  EXPECT_CODE(Code::invalid_argument, run(Direction::write, 0, Piece{memory.data() + 1, alignment}, true).status);
  EXPECT_CODE(Code::invalid_argument, run(Direction::write, 0, Piece{memory.data(), alignment + 1}, true).status);
  const Piece second_bad[] = {good, {memory.data() + 8, alignment}};
  EXPECT_CODE(Code::invalid_argument, run(Direction::read, 0, second_bad, true).status);
  EXPECT_EQ(file_->size().value(), 0u);
}

TEST_P(QueueConformance, AFileThatIsKeptOpenNeedsNoName) {
  EXPECT_OK(backend_->remove(path()));
  Bytes data = noise(5000, 9), back(5000);

  EXPECT_EQ(run(Direction::write, 0, piece_of(data)).moved, 5000u);
  EXPECT_EQ(run(Direction::read, 0, piece_of(back)).moved, 5000u);

  EXPECT_EQ(back, data);
  EXPECT_FALSE(backend_->exists(path()).value());
}

class FailingQueue : public QueueConformance {
 protected:
  FaultBackend& fault() { return dynamic_cast<FaultBackend&>(*backend_); }
};

TEST_P(FailingQueue, FailsOnlyTheTransferThatFails) {
  for (const int err : {EIO, ENOSPC}) {
    for (const bool partial : {false, true}) {
      file_ = open_kept({.read = true, .write = true, .create = true, .truncate = true});
      FaultScript script;
      script.rules = {{.kind = CallKind::write, .at = 3, .os_errno = err, .partial = partial}};
      fault().restart(script);
      Bytes data = noise(1000, 10);
      const Piece piece = piece_of(data);
      std::deque<IoTransfer> transfers;
      for (std::uint64_t i = 0; i < 5; ++i) {
        transfers.push_back(transfer(Direction::write, i * 1000, std::span(&piece, 1)));
        submit(transfers.back());
      }
      for (IoTransfer& each : transfers) finish(each);

      for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(transfers[i].status.os_errno(), i == 2 ? err : 0) << i;
      Bytes third(1000);
      if (partial) std::copy_n(data.begin(), 500, third.begin());
      EXPECT_EQ(read(*file_, 2000, 1000), third);
      EXPECT_EQ(read(*file_, 3000, 1000), data);
    }
  }
}

TEST_P(FailingQueue, ReadsThatEndEarlyOrFailAreTold) {
  Bytes data = noise(1000, 11), back(1000);
  EXPECT_OK(run(Direction::write, 0, piece_of(data)).status);
  FaultScript script;
  script.rules = {{.kind = CallKind::read, .at = 1, .short_read = true}, {.kind = CallKind::read, .at = 2}};
  fault().restart(script);

  const IoTransfer early = run(Direction::read, 0, piece_of(back));
  const IoTransfer failed = run(Direction::read, 0, piece_of(back));

  EXPECT_OK(early.status);
  EXPECT_EQ(early.moved, 500u);
  EXPECT_CODE(Code::io_error, failed.status);
  EXPECT_EQ(failed.moved, 0u);
}

TEST_P(QueueConformance, ThreadsWithQueuesOfTheirOwnShareAFile) {
  constexpr std::size_t n_threads = 3, n_records = 60, bytes = 7000;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < n_threads; ++t) {
    threads.emplace_back([&, t] {
      const auto queue = make_queue(std::get<1>(GetParam()));
      Bytes data(bytes, static_cast<std::byte>(1 + t));
      const Piece piece = piece_of(data);
      std::deque<IoTransfer> transfers;
      for (std::size_t i = 0; i < n_records; ++i) {
        transfers.push_back(transfer(Direction::write, (i * n_threads + t) * bytes, std::span(&piece, 1)));
        while (!queue->submit(transfers.back())) queue->wait(std::chrono::milliseconds(100));
      }
      while (queue->in_flight() > 0) queue->wait(std::chrono::milliseconds(100));
      for (const IoTransfer& each : transfers) EXPECT_TRUE(each.done && each.status.ok());
    });
  }
  for (auto& thread : threads) thread.join();

  const Bytes all = read(*file_, 0, n_threads * n_records * bytes + 1);
  ASSERT_EQ(all.size(), n_threads * n_records * bytes);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], static_cast<std::byte>(1 + i / bytes % n_threads)) << i;
}

class QueueOfHoles : public QueueConformance {};

TEST_P(QueueOfHoles, MovesMoreThanTheKernelTakesAtOnce) {
  const std::uint64_t bytes = (std::uint64_t{1} << 32) + 1;
  const VirtualMemory memory(bytes);
  if (memory.data() == nullptr) GTEST_SKIP() << memory.why_not();
  EXPECT_OK(file_->write(bytes - 1, noise(1, 12)));  // a hole, and one byte
  memory.data()[bytes - 1] = std::byte{0};

  EXPECT_EQ(run(Direction::read, 0, Piece{memory.data(), bytes}).moved, bytes);
  EXPECT_EQ(memory.data()[bytes - 1], noise(1, 12)[0]);
  EXPECT_EQ(run(Direction::read, 1, Piece{memory.data(), std::uint64_t{1} << 31}).moved, std::uint64_t{1} << 31);
  EXPECT_EQ(run(Direction::read, bytes - 5, Piece{memory.data(), std::uint64_t{1} << 31}).moved, 5u);
}

auto with_queues(const std::vector<StorageKind>& kinds) {
  return testing::Combine(testing::ValuesIn(kinds), testing::Values("posix", "uring", "thread"));
}
std::string name_of(const testing::TestParamInfo<Combination>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
}
INSTANTIATE_TEST_SUITE_P(Kinds, QueueConformance, with_queues(storage_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, DirectQueue, with_queues(storage_kinds(&StorageKind::direct)), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, FailingQueue, with_queues(storage_kinds(&StorageKind::fails)), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, QueueOfHoles, with_queues(storage_kinds(&StorageKind::cheap_holes)), name_of);

}  // namespace
}  // namespace thalweg
