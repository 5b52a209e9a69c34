// Memory of a two-phase access of simulated tasks in separate processes: for any number of small pieces, and any number
// of tasks that read the same bytes, all tasks together stay within the aggregators' budget. When one task's allocation
// fails all get the status, none hangs, and the next access works.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sharedfile/plain_file.hpp"
#include "storage/queues.hpp"
#include "support/files/shared_files.hpp"
#include "support/memory/counting_new.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kSlack = std::uint64_t{1} << 17;  // messages without data, and the groups
constexpr std::uint64_t kFrames = 10 * 1024;              // coroutine frames of each task, kept for the next access

// Memory of each task, and its places in the file.
struct Share {
  std::vector<std::byte> memory;
  std::vector<Extent> extents;
};

class TwoPhaseMemory : public SharedFiles {
 protected:
  // Pieces of 8 bytes with random holes between them, each of a random task.
  static std::vector<Share> irregular(TaskRank tasks, std::size_t pieces) {
    std::mt19937_64 random(1);
    std::vector<Share> shares(static_cast<std::size_t>(tasks));
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < pieces * shares.size(); ++i) {
      offset += random() % 17;
      shares[random() % shares.size()].extents.push_back({nullptr, 8, offset});
      offset += 8;
    }
    for (Share& share : shares) {
      share.memory.resize(share.extents.size() * 8);
      for (std::size_t i = 0; i < share.extents.size(); ++i) share.extents[i].memory = share.memory.data() + 8 * i;
      for (std::byte& byte : share.memory) byte = static_cast<std::byte>(random());
    }
    return shares;
  }

  static Op<Status> access(PlainFile& file, Direction direction, const Share& share, std::vector<Plan>* plans) {
    TaskAccess what;
    what.direction = direction;
    what.extents = share.extents;
    Outcome outcome = co_await file.access(what);
    if (plans != nullptr) plans->push_back(outcome.plan);
    co_return outcome.status;
  }

  static Op<Result<std::unique_ptr<PlainFile>>> open_with(Group& group, std::string path, std::string hints) {
    PlainOpen how;
    how.path = std::move(path);
    how.options.write = how.options.create = true;
    how.hints = std::move(hints);
    return PlainFile::open(group, posix_backend(), std::move(how));
  }

  // Writes or reads `shares`; returns the memory used beside the tasks' own lists.
  std::uint64_t peak_of(std::vector<Share>& shares, Direction direction, const SimOptions& options,
                        const std::string& hints) {
    std::uint64_t own = 0;
    for (const Share& share : shares) own += share.extents.size() > 1 ? share.extents.size() * 8 : 0;
    std::uint64_t taken = 0;
    std::vector<Plan> plans;
    run_on_sim(options, [&](Group& group) -> Op<Status> {
      auto opened = co_await open_with(group, path(), hints);
      if (!opened.has_value()) co_return opened.error();
      PlainFile& file = *opened.value();
      Status status = co_await group.barrier();
      if (group.rank() == 0) Allocations::restart_peak();
      const std::uint64_t before = Allocations::in_use();
      status = co_await group.barrier();
      status = co_await access(file, direction, shares[static_cast<std::size_t>(group.rank())], &plans);
      EXPECT_TRUE(status.ok()) << status.message();
      status = co_await group.barrier();
      if (group.rank() == 0) taken = Allocations::peak() - before;
      co_return co_await file.close();
    });
    for (const Plan& plan : plans) EXPECT_EQ(plan.method, Method::aggregate);
    EXPECT_GT(taken, own);
    return taken - std::min(taken, own);
  }
};

TEST_F(TwoPhaseMemory, OfManySmallPiecesIsThatOfAnAggregator) {
  constexpr std::uint64_t kAggregator = std::uint64_t{1} << 20;
  const std::string hints = "method=aggregate,aggregators=1,aggregator_bytes=1MiB";
  for (const TaskRank tasks : {8, 24}) {
    for (const std::int64_t on_node : {1, 100}) {
      SCOPED_TRACE(std::to_string(tasks) + " tasks, " + std::to_string(on_node) + " processes on a node");
      const SimOptions options{.tasks = tasks, .seed = 3, .processes_per_node = on_node};
      std::vector<Share> shares = irregular(tasks, 20000);
      const std::vector<Share> before = shares;
      const std::uint64_t most = kAggregator + kSlack + static_cast<std::uint64_t>(tasks) * kFrames;
      EXPECT_LE(peak_of(shares, Direction::write, options, hints), most);
      for (Share& share : shares) std::fill(share.memory.begin(), share.memory.end(), std::byte{0});
      EXPECT_LE(peak_of(shares, Direction::read, options, hints), most);
      for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_TRUE(shares[i].memory == before[i].memory);
    }
  }
}

// Data that passes through relays has a budget of its own on each relay.
TEST_F(TwoPhaseMemory, OfForwardersIsWithinThatOfAnAggregator) {
  constexpr std::uint64_t kAggregator = std::uint64_t{1} << 20;
  const std::string hints = "method=aggregate,aggregators=1,node_relay=on,aggregator_bytes=1MiB";
  const TaskRank tasks = 48;
  const SimOptions options{.tasks = tasks, .seed = 3, .processes_per_node = 6};
  std::vector<Share> shares = irregular(tasks, 10000);
  const std::vector<Share> before = shares;
  const std::uint64_t relays = 7 * 2 * AggregatorBudget(kAggregator).relayed;  // of seven nodes, in and out
  const std::uint64_t most = kAggregator + relays + kSlack + static_cast<std::uint64_t>(tasks) * kFrames;
  EXPECT_LE(peak_of(shares, Direction::write, options, hints), most);
  for (Share& share : shares) std::fill(share.memory.begin(), share.memory.end(), std::byte{0});
  EXPECT_LE(peak_of(shares, Direction::read, options, hints), most);
  for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_TRUE(shares[i].memory == before[i].memory);
}

TEST_F(TwoPhaseMemory, OfWhatManyTasksReadIsThatOfAnAggregator) {
  constexpr std::uint64_t kAggregator = std::uint64_t{1} << 20;
  std::string text = text_of(1, 3 << 20);
  put(text);
  const TaskRank tasks = 40;
  std::vector<Share> shares(static_cast<std::size_t>(tasks));
  for (Share& share : shares) {
    share.memory.resize(text.size());
    share.extents.push_back({share.memory.data(), share.memory.size(), 0});
  }

  const std::uint64_t peak = peak_of(shares, Direction::read, {.tasks = tasks, .seed = 5},
                                     "method=aggregate,aggregators=1,aggregator_bytes=1MiB");

  EXPECT_LE(peak, kAggregator + kSlack + static_cast<std::uint64_t>(tasks) * kFrames);
  for (const Share& share : shares) EXPECT_EQ(std::memcmp(share.memory.data(), text.data(), text.size()), 0);
}

TEST_F(TwoPhaseMemory, OfWhatManyTasksWriteIsThatOfAnAggregator) {
  constexpr std::uint64_t kAggregator = std::uint64_t{1} << 20;
  const TaskRank tasks = 20;
  std::vector<Share> shares(static_cast<std::size_t>(tasks));
  for (Share& share : shares) {
    share.memory.assign(1 << 20, std::byte{'x'});
    share.extents.push_back({share.memory.data(), share.memory.size(), 0});
  }

  const std::uint64_t peak = peak_of(shares, Direction::write, {.tasks = tasks, .seed = 6},
                                     "method=aggregate,aggregators=1,aggregator_bytes=1MiB");

  EXPECT_LE(peak, kAggregator + kSlack + static_cast<std::uint64_t>(tasks) * kFrames);
  EXPECT_TRUE(content() == std::string(1 << 20, 'x'));
}

// Simulated tasks allocate on one thread, so each allocation of each task can be refused.
TEST_F(TwoPhaseMemory, RefusedToOneTaskIsTheFailureOfAll) {
  const std::uint64_t stride = tries_less() ? 4 : 1;  // of allocations: it takes ten times as long there
  constexpr std::uint64_t kBookkeeping = 257;         // smaller blocks end the program (docs/adr/0016-memory.md)
  for (const TaskRank tasks : {2, 5}) {
    for (const std::int64_t on_node : {1, 2, 100}) {
      const SimOptions options{.tasks = tasks, .seed = 7, .processes_per_node = on_node};
      std::uint64_t most = 10;
      std::uint64_t n_failed = 0;
      for (std::uint64_t k = 1; k <= most && !HasFailure(); k += stride) {
        SCOPED_TRACE(std::to_string(tasks) + " tasks, allocation " + std::to_string(k));
        std::vector<Share> shares = irregular(tasks, on_node == 2 ? 300 : 1500);
        const std::vector<Share> written = shares;
        std::vector<Code> heard[2];
        run_on_sim(options, [&](Group& group) -> Op<Status> {
          Share& share = shares[static_cast<std::size_t>(group.rank())];
          auto opened = co_await open_with(
              group, path(), "method=aggregate,aggregators=2,node_relay=on,aggregator_bytes=64KiB,io=buffered");
          if (!opened.has_value()) co_return opened.error();
          PlainFile& file = *opened.value();
          for (const Direction direction : {Direction::write, Direction::read}) {
            if (group.rank() == 0 && direction == Direction::write) Allocations::start(k, kBookkeeping);
            Status status = co_await group.barrier();
            status = co_await access(file, direction, share, nullptr);
            heard[direction == Direction::read ? 1 : 0].push_back(status.code());
          }
          Status status = co_await group.barrier();
          Allocations::stop();
          status = co_await group.barrier();
          for (const Direction direction : {Direction::write, Direction::read}) {
            share.memory = written[static_cast<std::size_t>(group.rank())].memory;
            for (std::size_t i = 0; i < share.extents.size(); ++i)
              share.extents[i].memory = share.memory.data() + 8 * i;
            if (direction == Direction::read) std::fill(share.memory.begin(), share.memory.end(), std::byte{0});
            status = co_await access(file, direction, share, nullptr);
            EXPECT_TRUE(status.ok()) << status.message();
          }
          EXPECT_TRUE(share.memory == written[static_cast<std::size_t>(group.rank())].memory);
          co_return co_await file.close();
        });
        for (const auto& codes : heard) {
          ASSERT_EQ(codes.size(), static_cast<std::size_t>(tasks));
          for (const Code code : codes) {
            EXPECT_EQ(code, codes[0]);
            EXPECT_TRUE(code == Code::ok || code == Code::no_memory) << static_cast<int>(code);
          }
          n_failed += codes[0] == Code::no_memory ? 1 : 0;
        }
        most = std::max(most, Allocations::count());
      }
      EXPECT_GT(n_failed * stride, 20u) << "of " << most;
    }
  }
}

}  // namespace
}  // namespace thalweg::test
