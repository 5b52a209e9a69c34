// Two-phase accesses of tasks in separate processes under unusual conditions: memory that aggregators cannot reach,
// tasks without bytes, short windows. The bytes are right in any case.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "os/file_ops.hpp"
#include "os/peer_memory.hpp"
#include "sharedfile/plain_file.hpp"
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

// Number of the copy between processes that fails; 0: none.
std::atomic<int> copies_made{0};
int wrong_copy = 0;
PeerCopyCall real_copy = nullptr;

Status copy_or_fail(Direction direction, std::int64_t process, std::span<iovec> here, std::span<iovec> there) {
  if (++copies_made != wrong_copy) return real_copy(direction, process, here, there);
  return Status::failed_call(Code::io_error, EPERM, "the memory of another process cannot be reached");
}

std::atomic<int> writes_made{0};

ssize_t write_counted(int fd, const void* data, std::size_t bytes, off_t at) {
  ++writes_made;
  return ::pwrite(fd, data, bytes, at);
}
ssize_t write_all_counted(int fd, const iovec* parts, int n, off_t at) {
  ++writes_made;
  return ::pwritev(fd, parts, n, at);
}

struct Share {
  std::vector<std::byte> memory;
  std::vector<Extent> extents;
};

class TwoPhaseFiles : public SharedFiles {
 protected:
  void SetUp() override {
    SharedFiles::SetUp();
    real_copy = peer_copy_call();
    peer_copy_call() = copy_or_fail;
    fail_at(0);
  }
  void TearDown() override {
    peer_copy_call() = real_copy;
    SharedFiles::TearDown();
  }
  static void fail_at(int n) {
    wrong_copy = n;
    copies_made = 0;
  }

  // Pieces interleaved with those of the other tasks, in blocks of several; some tasks have none.
  static std::vector<Share> interleaved(TaskRank tasks, std::uint64_t piece, std::size_t pieces) {
    std::vector<Share> shares(static_cast<std::size_t>(tasks));
    for (std::size_t task = 0; task < shares.size(); ++task) {
      Share& share = shares[task];
      if (task % 4 == 3) continue;
      share.memory.resize(piece * pieces);
      for (std::size_t i = 0; i < share.memory.size(); ++i)
        share.memory[i] = static_cast<std::byte>(i * 7 + i / 251 + task);
      for (std::size_t i = 0; i < pieces; ++i)
        share.extents.push_back({share.memory.data() + i * piece, piece, (i * shares.size() + task) * (piece + 5)});
    }
    return shares;
  }

  // Writes the shares and reads them back; returns the number of copies.
  int write_and_read(std::vector<Share>& shares, const SimOptions& options, const std::string& hints, int wrong) {
    const std::vector<Share> before = shares;
    int copies = 0;
    for (const Direction direction : {Direction::write, Direction::read}) {
      if (direction == Direction::read)
        for (Share& share : shares) std::fill(share.memory.begin(), share.memory.end(), std::byte{0});
      run_on_sim(options, [&](Group& group) -> Op<Status> {
        PlainOpen how;
        how.path = path();
        how.options.write = how.options.create = true;
        how.hints = hints;
        auto opened = co_await PlainFile::open(group, posix_backend(), std::move(how));
        if (!opened.has_value()) co_return opened.error();
        if (group.rank() == 0) fail_at(wrong);
        Status status = co_await group.barrier();
        TaskAccess access;
        access.direction = direction;
        access.extents = shares[static_cast<std::size_t>(group.rank())].extents;
        const Outcome outcome = co_await opened.value()->access(access);
        EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
        EXPECT_EQ(outcome.plan.method, Method::aggregate);
        if (group.rank() == 0) copies = std::max(copies, copies_made.load());
        co_return co_await opened.value()->close();
      });
      if (direction == Direction::write) expect_in_file(before);
    }
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_TRUE(shares[i].memory == before[i].memory) << "task " << i;
    return copies;
  }

  void expect_in_file(const std::vector<Share>& shares) const {
    const std::string bytes = content();
    std::size_t wrong = 0;
    for (const Share& share : shares)
      for (const Extent& extent : share.extents)
        wrong += extent.end() > bytes.size() ||
                 !std::equal(extent.memory, extent.memory + extent.bytes,
                             reinterpret_cast<const std::byte*>(bytes.data()) + extent.offset);
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(TwoPhaseFiles, MemoryThatCannotBeReachedComesByMessage) {
  for (const std::int64_t on_node : {6, 3}) {
    for (const int aggregators : {1, 2}) {
      const std::string hints =
          "method=aggregate,aggregator_bytes=64KiB,node_relay=on,aggregators=" + std::to_string(aggregators);
      const SimOptions options{.tasks = 6, .seed = 2, .processes_per_node = on_node};
      std::filesystem::remove(path());
      std::vector<Share> shares = interleaved(6, 700, 40);
      const int all = write_and_read(shares, options, hints, 0);
      ASSERT_GT(all, 10);
      for (int n = 1; n <= all && !HasFailure(); ++n) {
        SCOPED_TRACE(std::to_string(on_node) + " on a node, " + std::to_string(aggregators) + " aggregators, copy " +
                     std::to_string(n) + " of " + std::to_string(all));
        std::filesystem::remove(path());
        const int now = write_and_read(shares, options, hints, n);
        EXPECT_LT(now, 2 * all);
      }
    }
  }
}

TEST_F(TwoPhaseFiles, HoldForAnySizeOfPieces) {
  std::uint64_t seed = 1;
  for (const std::uint64_t piece : {1, 8, 100, 511, 512, 5000, 70000}) {
    for (const std::int64_t on_node : {1, 3}) {
      for (const TaskRank tasks : {2, 7, 20}) {
        SCOPED_TRACE(std::to_string(tasks) + " tasks, " + std::to_string(on_node) + " on a node, pieces of " +
                     std::to_string(piece));
        std::vector<Share> shares = interleaved(tasks, piece, piece > 1000 ? 6 : 60);
        std::filesystem::remove(path());
        write_and_read(shares, {.tasks = tasks, .seed = seed++, .processes_per_node = on_node},
                       "method=aggregate,aggregators=3,aggregator_bytes=64KiB", 0);
      }
    }
  }
}

// Node relays pass requests to aggregators on other nodes, for nodes of any size and threads of one process.
TEST_F(TwoPhaseFiles, HoldWhereNodesHaveRelays) {
  std::uint64_t seed = 1;
  for (const std::uint64_t piece : {1, 8, 100, 700, 5000}) {
    for (const TaskRank threads : {1, 3}) {
      for (const std::int64_t on_node : {2, 3, 5}) {
        for (const int aggregators : {1, 3, 7}) {
          SCOPED_TRACE("pieces of " + std::to_string(piece) + ", " + std::to_string(threads) + " threads, " +
                       std::to_string(on_node) + " processes on a node, " + std::to_string(aggregators) +
                       " aggregators");
          std::vector<Share> shares = interleaved(17, piece, piece > 1000 ? 6 : 60);
          std::filesystem::remove(path());
          write_and_read(
              shares, {.tasks = 17, .seed = seed++, .tasks_per_process = threads, .processes_per_node = on_node},
              "method=aggregate,node_relay=on,aggregator_bytes=256KiB,aggregators=" + std::to_string(aggregators), 0);
        }
      }
    }
  }
}

// Messages of the task that sends most, writing and reading, when all tasks have bytes in each domain.
TEST_F(TwoPhaseFiles, SendAsManyMessagesAsThereAreNodesWhereTheyHaveRelays) {
  std::map<std::string, std::uint64_t> most;
  for (const std::string node_relay : {"off", "on", "auto"}) {
    std::vector<Share> shares = interleaved(256, 200, 8);
    SimOptions options{.tasks = 256, .seed = 3, .processes_per_node = 64, .costs = SimCosts{}};
    SimWorld world(options);
    std::vector<Op<Status>> ops;
    for (TaskRank rank = 0; rank < 256; ++rank)
      ops.push_back(
          [](Group& group, std::string name, std::string hints, Share& share) -> Op<Status> {
            PlainOpen how;
            how.path = std::move(name);
            how.options.write = how.options.create = true;
            how.hints = std::move(hints);
            auto opened = co_await PlainFile::open(group, posix_backend(), std::move(how));
            if (!opened.has_value()) co_return opened.error();
            for (const Direction direction : {Direction::write, Direction::read}) {
              TaskAccess access;
              access.direction = direction;
              access.extents = share.extents;
              const Outcome outcome = co_await opened.value()->access(access);
              EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
            }
            co_return co_await opened.value()->close();
          }(world.group(rank), path(), "method=aggregate,aggregators=4,node_relay=" + node_relay,
                                                                              shares[static_cast<std::size_t>(rank)]));
    ASSERT_TRUE(world.run<Status>(ops).ok());
    for (const SimTask& task : world.ledger().tasks) most[node_relay] = std::max(most[node_relay], task.messages);
    expect_in_file(shares);
  }
  EXPECT_EQ(most["auto"], most["on"]);
  EXPECT_LT(most["on"] * 3, most["off"] * 2) << "192 tasks of three other nodes write, ask, and are answered";
}

// Pieces have holes of five bytes between them: written one by one, or with the holes, which keep their bytes.
TEST_F(TwoPhaseFiles, PutBackHolesWhereNobodyElseMayWrite) {
  const TransferCalls usual = transfer_calls();
  int calls[2] = {};
  for (const bool sieves : {false, true}) {
    for (const char* aggregators : {"1", "3"}) {
      std::vector<Share> shares = interleaved(7, 100, 60);
      const std::size_t end = 60 * 7 * 105;
      std::ofstream(path(), std::ios::binary) << std::string(end, '.');
      transfer_calls() = {pread, preadv, write_counted, write_all_counted, usual.sync};
      writes_made = 0;
      write_and_read(shares, {.tasks = 7, .seed = 5, .processes_per_node = 3},
                     std::string("method=aggregate,aggregator_bytes=64KiB,sieve_writes=") + (sieves ? "on" : "off") +
                         ",aggregators=" + aggregators,
                     0);
      transfer_calls() = usual;
      calls[sieves ? 1 : 0] += writes_made;
      std::string bytes = content();
      ASSERT_EQ(bytes.size(), end);
      for (const Share& share : shares)
        for (const Extent& extent : share.extents)
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(extent.offset), extent.bytes, '.');
      EXPECT_TRUE(bytes == std::string(end, '.')) << "holes have changed";
    }
  }
  EXPECT_GT(calls[0], 600);
  EXPECT_LT(calls[1], 40);
}

// Storage of a user with write but no read permission.
class WriteOnly final : public Backend {
 public:
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    if (options.read) return Status::failed_call(Code::no_permission, EACCES, "may not be read");
    return posix_backend()->open(path, options);
  }
  Status remove(const std::string& path) override { return posix_backend()->remove(path); }
  Result<bool> exists(const std::string& path) override { return posix_backend()->exists(path); }
  Status sync_directory_of(const std::string& path) override { return posix_backend()->sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override { return posix_backend()->describe(path); }
  const char* name() const override { return "write only"; }
};

// For each task without read permission: all tasks write, none through the holes.
TEST_F(TwoPhaseFiles, LeaveHolesAloneWhereOneTaskMayNotRead) {
  for (const TaskRank blind : {0, 1, 3}) {
    for (const char* method : {"aggregate,aggregators=3,aggregator_bytes=64KiB", "direct"}) {
      SCOPED_TRACE(std::string(method) + ", task " + std::to_string(blind) + " may not read");
      std::vector<Share> shares = interleaved(7, 100, 60);
      std::string expected(60 * 7 * 105, '.');
      put(expected);
      run_on_sim({.tasks = 7, .seed = 5, .processes_per_node = 3}, [&](Group& group) -> Op<Status> {
        PlainOpen how;
        how.path = path();
        how.options.read = false;
        how.options.write = true;
        how.hints = std::string("sieve_writes=on,method=") + method;
        auto backend = group.rank() == blind ? std::make_shared<WriteOnly>() : posix_backend();
        auto opened = co_await PlainFile::open(group, std::move(backend), std::move(how));
        if (!opened.has_value()) co_return opened.error();
        TaskAccess access;
        access.direction = Direction::write;
        access.extents = shares[static_cast<std::size_t>(group.rank())].extents;
        const Outcome outcome = co_await opened.value()->access(access);
        EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
        EXPECT_FALSE(outcome.plan.sieve);
        co_return co_await opened.value()->close();
      });
      for (const Share& share : shares)
        for (const Extent& extent : share.extents) std::memcpy(&expected[extent.offset], extent.memory, extent.bytes);
      EXPECT_TRUE(content() == expected);
    }
  }
}

using TwoPhaseOfThreads = SharedFiles;

// Messages of such a group pass through other tasks, so that written data would be sent several times.
TEST_F(TwoPhaseOfThreads, IsNotForGroupsWithoutAnExchangeOfTheirOwn) {
  run_on_callbacks(4, 1, [&](Group& group) {
    PlainOpen how;
    how.path = path();
    how.options.write = how.options.create = true;
    how.hints = "method=aggregate";
    auto opened = run(PlainFile::open(group, posix_backend(), std::move(how)));
    ASSERT_TRUE(opened.has_value()) << opened.status().message();
    EXPECT_TRUE(opened.value()->shared()->helpers->aggregators.empty());
    std::string text = text_of(static_cast<int>(group.rank()), 1000);
    Extent extent{reinterpret_cast<std::byte*>(text.data()), 1000, static_cast<std::uint64_t>(group.rank()) * 1000};
    TaskAccess access;
    access.direction = Direction::write;
    access.extents = {&extent, 1};
    const Outcome outcome = run(opened.value()->access(access));
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.plan.method, Method::direct);
    EXPECT_TRUE(run(opened.value()->close()).ok());
  });

  EXPECT_EQ(content(), text_of(0, 1000) + text_of(1, 1000) + text_of(2, 1000) + text_of(3, 1000));
}

// How one task of an access differs from the others.
enum class Odd { nothing, invalid, unordered, empty, late };

class OddTasks : public TwoPhaseFiles, public testing::WithParamInterface<Odd> {
 protected:
  // Statuses of one access and of a good one after it.
  static std::pair<Code, Code> try_access(PlainFile& file, Direction direction, Share share, bool odd) {
    const std::vector<Extent> good = share.extents;
    if (odd && GetParam() == Odd::invalid) share.extents[1].memory = nullptr;
    if (odd && GetParam() == Odd::unordered) std::reverse(share.extents.begin(), share.extents.end());
    if (odd && GetParam() == Odd::empty) share.extents.clear();
    if (odd && GetParam() == Odd::late) ::usleep(30'000);
    TaskAccess access;
    access.direction = direction;
    access.extents = share.extents;
    const Code first = run(file.access(access)).status.code();
    access.extents = good;
    return {first, run(file.access(access)).status.code()};
  }
};

TEST_P(OddTasks, AreHeardOfByAllAndTheNextAccessIsGood) {
  constexpr TaskRank kTasks = 3;
  const Code expected = GetParam() == Odd::invalid ? Code::invalid_argument : Code::ok;
  for (TaskRank odd = 0; odd < kTasks; ++odd) {
    for (const Direction direction : {Direction::write, Direction::read}) {
      std::vector<Share> shares = interleaved(kTasks, 600, 60);
      std::filesystem::remove(path());
      run_apart(kTasks, [&](Group& group) {
        PlainOpen how;
        how.path = path();
        how.options.write = how.options.create = true;
        how.hints = "method=aggregate,aggregators=2,aggregator_bytes=64KiB";
        auto opened = run(PlainFile::open(group, posix_backend(), std::move(how)));
        ASSERT_TRUE(opened.has_value()) << opened.status().message();
        const auto& mine = shares[static_cast<std::size_t>(group.rank())];
        const auto heard = try_access(*opened.value(), direction, mine, group.rank() == odd);
        EXPECT_EQ(heard.first, expected) << "task " << group.rank() << ", odd is " << odd;
        EXPECT_EQ(heard.second, Code::ok) << "task " << group.rank() << ", odd is " << odd;
        EXPECT_TRUE(run(opened.value()->close()).ok());
      });
      if (direction == Direction::write) expect_in_file(shares);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OddTasks,
                         testing::Values(Odd::nothing, Odd::invalid, Odd::unordered, Odd::empty, Odd::late));

// A task whose list repeats some bytes more often than a window has space, from one byte of the file.
TEST_F(TwoPhaseFiles, ReadWhatOneTaskAsksForManyTimes) {
  const std::string text = text_of(1, 50000);
  put(text);
  std::vector<Share> shares(3);
  for (std::size_t task = 0; task < 2; ++task) {
    shares[task].memory.resize(100 * 3000);
    for (std::size_t i = 0; i < 100; ++i)
      shares[task].extents.push_back({shares[task].memory.data() + i * 3000, 3000, 10 + 5 * (i % 3)});
  }
  run_on_sim(SimOptions{.tasks = 3, .seed = 4}, [&](Group& group) -> Op<Status> {
    PlainOpen how;
    how.path = path();
    how.hints = "method=aggregate,aggregators=2,aggregator_bytes=64KiB";
    auto opened = co_await PlainFile::open(group, posix_backend(), std::move(how));
    if (!opened.has_value()) co_return opened.error();
    TaskAccess access;
    access.extents = shares[static_cast<std::size_t>(group.rank())].extents;
    const Outcome outcome = co_await opened.value()->access(access);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.plan.method, Method::aggregate);
    co_return co_await opened.value()->close();
  });

  for (const Share& share : shares)
    for (const Extent& extent : share.extents)
      ASSERT_EQ(std::memcmp(extent.memory, text.data() + extent.offset, extent.bytes), 0);
}

}  // namespace
}  // namespace thalweg::test
