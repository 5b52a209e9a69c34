// Simulated tasks: deadlocks and mismatches are reported, equal seeds give equal runs, and a million tasks fit in
// memory.
#include "sim/sim_group.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "group/agree.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {
namespace {

using Body = Op<Status> (*)(Group&);

Status end_of(TaskRank tasks, std::uint64_t seed, Body body) {
  SimWorld world({.tasks = tasks, .seed = seed});
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < tasks; ++r) ops.push_back(body(world.group(r)));
  return world.run(std::span(ops));
}

Op<Status> task_3_leaves(Group& group) {
  if (group.rank() == 3) co_return Status::error(Code::io_error, "left alone");
  co_return co_await group.barrier();
}

Op<Status> task_3_gathers(Group& group) {
  if (group.rank() == 3) {
    const auto got = co_await group.gather({}, 0);
    co_return got.status();
  }
  co_return co_await group.barrier();
}

Op<Status> task_3_has_another_root(Group& group) {
  const auto got = co_await group.gather({}, group.rank() == 3 ? 1 : 0);
  co_return got.status();
}

TEST(Sim, ReportsADesertedCollective) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Status end = end_of(5, seed, task_3_leaves);

    EXPECT_EQ(end.code(), Code::internal);
    EXPECT_EQ(end.message(), "deadlock: 4 of 5 tasks cannot go on; 4 wait in barrier for task 3");
  }
}

TEST(Sim, ReportsCollectivesThatDoNotMatch) {
  const std::string message = end_of(5, 1, task_3_gathers).message();
  EXPECT_NE(message.find("do not match"), std::string::npos) << message;
  EXPECT_NE(message.find("task 3"), std::string::npos) << message;
  EXPECT_NE(end_of(5, 1, task_3_has_another_root).message().find("do not match"), std::string::npos);
}

// The order in which tasks leave a barrier.
std::vector<TaskRank> order_of(std::uint64_t seed) {
  std::vector<TaskRank> order;
  run_on_sim(20, seed, [&order](Group& group) -> Op<Status> {
    const Status status = co_await group.barrier();
    order.push_back(group.rank());
    co_return status;
  });
  return order;
}

TEST(Sim, ASeedRepeatsItsOrder) {
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(Sim, AWorldThatIsNotShuffledRunsInTurn) {
  std::vector<TaskRank> order;
  run_on_sim(SimOptions{.tasks = 4, .shuffled = false}, [&order](Group& group) -> Op<Status> {
    for (int i = 0; i < 2; ++i) {
      const Status status = co_await group.barrier();
      if (!status.ok()) co_return status;
      order.push_back(group.rank());
    }
    co_return Status{};
  });

  EXPECT_EQ(order, (std::vector<TaskRank>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Sim, AHundredThousandTasksAgreeOnTheFailureOfOne) {
  int told = 0;
  run_on_sim(100'000, 5, [&told](Group& group) -> Op<Status> {
    Status mine;
    if (group.rank() == 77'777) mine = Status::error(Code::no_space, "full");
    const Status agreed = co_await agree(group, mine);
    told += agreed.message() == "task 77777: full" ? 1 : 0;
    co_return Status{};
  });

  EXPECT_EQ(told, 100'000);
}

TEST(Sim, WaitsForWhatIsNoGroup) {
  int asked = 0;
  run_on_sim(3, 1, [&asked](Group& group) -> Op<Status> {
    const WaitPoint third_time{[](void* count) { return ++*static_cast<int*>(count) >= 3; }, nullptr, &asked};
    if (group.rank() == 1) co_await third_time;
    co_return co_await group.barrier();
  });

  EXPECT_EQ(asked, 3);
}

TEST(Sim, AClosedWorldReportsAWaitThatNeverEnds) {
  SimWorld world({.tasks = 3, .closed = true});
  std::vector<Op<Status>> ops;
  const auto body = [](Group& group) -> Op<Status> {
    const WaitPoint never{[](void*) { return false; }, nullptr, nullptr};
    if (group.rank() == 1) co_await never;
    co_return co_await group.barrier();
  };
  for (TaskRank r = 0; r < 3; ++r) ops.push_back(body(world.group(r)));

  EXPECT_EQ(world.run(std::span(ops)).message(),
            "deadlock: 3 of 3 tasks cannot go on; 2 wait in barrier for task 1; some wait for what is no group");
}

TEST(Sim, ALateTaskGoesOnWhenNobodyElseCan) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<TaskRank> order;
    run_on_sim(SimOptions{.tasks = 5, .seed = seed, .closed = true, .late = 2}, [&order](Group& group) -> Op<Status> {
      order.push_back(group.rank());
      Status status = co_await group.barrier();
      order.push_back(group.rank());
      co_return status;
    });

    ASSERT_EQ(order.size(), 10u);
    EXPECT_EQ(order[4], 2);
    EXPECT_EQ(order[9], 2);
  }
}

}  // namespace
}  // namespace thalweg::test
