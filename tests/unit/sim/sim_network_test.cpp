// Costs of simulated collectives: messages of the modelled algorithms, and virtual clocks.
#include "sim/sim_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace thalweg::test {
namespace {

std::uint64_t log2_up(std::int64_t p) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(p - 1)));
}

// A simulated world with `tasks` tasks and one Op for each.
template <class Make>
SimLedger after(SimOptions options, Make&& make) {
  if (!options.costs.has_value()) options.costs.emplace();
  SimWorld world(options);
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < options.tasks; ++r) ops.push_back(make(world.group(r)));
  const Status end = world.run(std::span(ops));
  EXPECT_TRUE(end.ok()) << end.message();
  return world.ledger();
}

Op<Status> one_barrier(Group& group) { co_return co_await group.barrier(); }

Op<Status> one_reduction(Group& group) {
  const auto got = co_await group.allreduce(std::vector<std::int64_t>(3), Reduction::max);
  co_return got.status();
}

struct Sum {
  std::int64_t number;
};
Op<Status> one_fold(Group& group) {
  Sum mine{group.rank()};
  Sum before{0};
  const Folding how{sizeof(Sum), [](void* left, const void* right) {
                      static_cast<Sum*>(left)->number += static_cast<const Sum*>(right)->number;
                    }};
  co_return co_await group.fold(&mine, &before, how);
}

// Sends 1000 bytes to each of the next two tasks.
Op<Status> one_exchange(Group& group) {
  std::vector<Message> outgoing;
  for (TaskRank step = 1; step <= 2; ++step) outgoing.push_back({(group.rank() + step) % group.size(), Bytes(1000)});
  const auto got = co_await group.exchange(std::move(outgoing));
  co_return got.status();
}

TEST(SimNetwork, CountsNothingUnlessAsked) {
  SimWorld world({.tasks = 3});

  EXPECT_TRUE(world.ledger().tasks.empty());
}

TEST(SimNetwork, ABarrierTakesAMessageForEachBitOfTheNumberOfTasks) {
  for (const TaskRank tasks : {1, 2, 3, 5, 8, 100, 1024}) {
    const SimLedger ledger = after({.tasks = tasks}, one_barrier);
    for (const SimTask& task : ledger.tasks) {
      EXPECT_EQ(task.messages, log2_up(tasks));
      EXPECT_EQ(task.bytes, 0u);
    }
  }
}

TEST(SimNetwork, AReductionOfAPowerOfTwoDoublesRecursively) {
  const SimLedger ledger = after({.tasks = 64}, one_reduction);

  for (const SimTask& task : ledger.tasks) {
    EXPECT_EQ(task.messages, 6u);
    EXPECT_EQ(task.bytes, 6u * 24);
    EXPECT_EQ(task.most_received, 24u);
  }
}

TEST(SimNetwork, AReductionOfOthersTellsThoseItLeavesOut) {
  const SimLedger ledger = after({.tasks = 6}, one_reduction);

  const std::vector<std::uint64_t> wanted{1, 3, 1, 3, 2, 2};
  for (std::size_t r = 0; r < 6; ++r) EXPECT_EQ(ledger.tasks[r].messages, wanted[r]) << r;
}

TEST(SimNetwork, AFoldIsATreeUpAndDown) {
  for (const TaskRank tasks : {2, 7, 64, 1000}) {
    const SimLedger ledger = after({.tasks = tasks}, one_fold);
    std::uint64_t sum = 0;
    for (const SimTask& task : ledger.tasks) {
      sum += task.messages;
      EXPECT_LE(task.messages, 1 + log2_up(tasks));
    }
    EXPECT_EQ(sum, 2 * static_cast<std::uint64_t>(tasks - 1));
    EXPECT_EQ(ledger.tasks[0].messages, log2_up(tasks));
  }
}

TEST(SimNetwork, AnExchangeTakesMessagesForPartnersAndALogarithm) {
  const SimLedger ledger = after({.tasks = 32}, one_exchange);

  for (const SimTask& task : ledger.tasks) {
    EXPECT_EQ(task.messages, 2u * 3 + 5 + 5);  // length, reply and data for each; barrier; reduction
    EXPECT_EQ(task.bytes, 2u * (8 + 1000) + 5 * 8);
    EXPECT_EQ(task.most_received, 2000u);
  }
}

TEST(SimNetwork, FewProcessesExchangeShortMessagesInOneStep) {
  const SimLedger ledger = after({.tasks = 16}, one_exchange);

  for (const SimTask& task : ledger.tasks) {
    EXPECT_EQ(task.messages, 15u);
    EXPECT_EQ(task.bytes, 15u * 48 + 2 * 1000);
  }
}

TEST(SimNetwork, FewProcessesAnnounceLongMessages) {
  const SimLedger ledger = after({.tasks = 4}, [](Group& group) -> Op<Status> {
    std::vector<Message> outgoing;
    if (group.rank() == 0) outgoing.push_back({3, Bytes(5000)});
    const auto got = co_await group.exchange(std::move(outgoing));
    co_return got.status();
  });

  EXPECT_EQ(ledger.tasks[0].messages, 3u + 2 + 1);  // packets, reduction, data
  EXPECT_EQ(ledger.tasks[0].bytes, 3u * 48 + 2 * 8 + 5000);
  EXPECT_EQ(ledger.tasks[3].messages, 3u + 2);
}

TEST(SimNetwork, OneThreadOfAProcessSendsForAll) {
  const SimLedger ledger = after({.tasks = 8, .tasks_per_process = 4}, one_barrier);

  for (std::size_t r = 0; r < 8; ++r) EXPECT_EQ(ledger.tasks[r].messages, r % 4 == 0 ? 1u : 0u);
}

// Costs for which clocks can be computed by hand.
SimCosts plain_costs() {
  SimCosts costs;
  costs.send_ns = 10;
  costs.node_ns = 100;
  costs.node_byte_ns = 1;
  costs.net_ns = 1000;
  costs.net_byte_ns = 2;
  costs.meeting_ns = 5;
  return costs;
}

TEST(SimNetwork, AMessageTakesItsLatencyAndItsBytes) {
  const SimLedger near = after({.tasks = 2, .processes_per_node = 2, .costs = plain_costs()}, one_reduction);
  const SimLedger far = after({.tasks = 2, .costs = plain_costs()}, one_reduction);

  for (const SimTask& task : near.tasks) EXPECT_DOUBLE_EQ(task.clock_ns, 10 + 24 * 1 + 100 + 10);
  for (const SimTask& task : far.tasks) EXPECT_DOUBLE_EQ(task.clock_ns, 10 + 24 * 2 + 1000 + 10);
}

TEST(SimNetwork, ThreadsMeetBeforeAndAfter) {
  const SimLedger ledger = after({.tasks = 4, .tasks_per_process = 2, .costs = plain_costs()}, one_barrier);

  for (const SimTask& task : ledger.tasks) EXPECT_DOUBLE_EQ(task.clock_ns, 5 + 10 + 1000 + 10 + 5);
}

TEST(SimNetwork, WhoComesLateKeepsTheOthersWaiting) {
  SimOptions options{.tasks = 4, .costs = plain_costs()};
  SimWorld world(options);
  world.ledger().tasks[2].clock_ns = 1e6;
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < 4; ++r) ops.push_back(one_barrier(world.group(r)));
  ASSERT_TRUE(world.run(std::span(ops)).ok());

  for (const SimTask& task : world.ledger().tasks) EXPECT_GT(task.clock_ns, 1e6);
}

TEST(SimNetwork, TheTasksOfANodeShareItsLink) {
  // Task r of the first node sends 10000 bytes to task r of the second one.
  const auto send_across = [](std::int64_t tasks) {
    SimOptions options{.tasks = 2 * tasks, .processes_per_node = tasks, .costs = plain_costs()};
    SimWorld world(options);
    std::vector<SimMessage> messages;
    for (TaskRank r = 0; r < tasks; ++r) messages.push_back({r, r + tasks, 10000});
    world.network().exchange(messages);
    double last = 0;
    for (const SimTask& task : world.ledger().tasks) last = std::max(last, task.clock_ns);
    return last;
  };

  EXPECT_GE(send_across(4), 4 * 10000 * 2);
  EXPECT_LT(send_across(1), 2 * 10000 * 2);
}

}  // namespace
}  // namespace thalweg::test
