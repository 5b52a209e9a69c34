// Thread teams: properties that the conformance bodies cannot see from one task.
#include "group/team/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "group/agree.hpp"
#include "group/groups.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {
namespace {

// 16 threads outnumber the cores of a small machine: waiting threads must yield.
TEST(Team, NobodyPassesABarrierBeforeAllHaveArrived) {
  for (const std::int64_t tasks : {2, 3, 16}) {
    constexpr int kRounds = 300;
    std::vector<std::atomic<int>> arrived(kRounds);

    run_on_team(tasks, [&](Group& group) {
      for (int round = 0; round < kRounds; ++round) {
        arrived[static_cast<std::size_t>(round)].fetch_add(1, std::memory_order_relaxed);
        EXPECT_TRUE(run(group.barrier()).ok());
        EXPECT_EQ(arrived[static_cast<std::size_t>(round)].load(std::memory_order_relaxed), tasks);
      }
    });
  }
}

TEST(Team, ABarrierMakesPlainWritesVisible) {
  constexpr std::int64_t kTasks = 4;
  std::vector<int> cells(kTasks, 0);

  run_on_team(kTasks, [&](Group& group) {
    for (int round = 1; round < 200; ++round) {
      cells[static_cast<std::size_t>(group.rank())] = round;
      EXPECT_TRUE(run(group.barrier()).ok());
      for (const int cell : cells) EXPECT_EQ(cell, round);
      EXPECT_TRUE(run(group.barrier()).ok());
    }
  });
}

TEST(Team, AFailureNamesTheTaskThatFailedOnce) {
  run_on_team(3, [](Group& group) {
    const bool speaks = group.rank() == 0;
    const auto agreed = [&](const char* text) {
      return run(agree(group, speaks ? Status::error(Code::io_error, text) : Status{})).message();
    };
    EXPECT_EQ(agreed("cannot write"), "task 0: cannot write");
    EXPECT_EQ(agreed("task 2: cannot write"), "task 2: cannot write");
    EXPECT_EQ(agreed("task force: cannot write"), "task 0: task force: cannot write");
  });
}

TEST(Team, RefusesBadSizes) {
  EXPECT_EQ(make_team(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_team(-1).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_team(1'000'001).status().code(), Code::invalid_argument);
}

TEST(Team, RefusesARankTwiceOrOutOfRange) {
  const auto team = make_team(2).value();
  const auto first = make_team_group(team, 1);

  EXPECT_TRUE(first.has_value());
  EXPECT_EQ(make_team_group(team, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_team_group(team, 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_team_group(team, -1).status().code(), Code::invalid_argument);
}

TEST(Team, LivesAsLongAsItsLastGroup) {
  std::weak_ptr<Team> seen;
  {
    auto team = make_team(1).value();
    seen = team;
    const auto group = make_team_group(std::move(team), 0).value();
    EXPECT_TRUE(run(group->barrier()).ok());
    EXPECT_FALSE(seen.expired());
  }

  EXPECT_TRUE(seen.expired());
}

// The epoch counter wraps after 2^32 barriers; only its parity and equality matter. Parity holds across many.
TEST(Team, SmallAndLargeDataMayAlternate) {
  run_on_team(3, [](Group& group) {
    for (std::size_t round = 0; round < 400; ++round) {
      const Bytes sent(round % 3 == 0 ? 2000 : round % 50, static_cast<std::byte>(round));
      const auto root = static_cast<TaskRank>(round % 3);
      const auto got = run(group.broadcast(group.rank() == root ? ByteView(sent) : ByteView{}, root));
      ASSERT_TRUE(got.has_value());
      ASSERT_EQ(got.value(), sent);
    }
  });
}

TEST(Team, ReductionsOfDifferentLengthsFailOnAllTasks) {
  run_on_team(3, [](Group& group) {
    const std::size_t length = group.rank() == 1 ? 3 : 2;
    const auto got = run(group.allreduce(std::vector<std::int64_t>(length, 1), Reduction::sum));

    EXPECT_EQ(got.status().code(), Code::invalid_argument);
  });
}

}  // namespace
}  // namespace thalweg::test
