#include "support/groups/run_on.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "support/groups/apart_group.hpp"
#include "support/groups/thread_transport.hpp"

namespace thalweg::test {

void on_threads(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  std::vector<std::thread> threads;
  for (std::int64_t task = 1; task < tasks; ++task) threads.emplace_back([&body, task] { body(task); });
  body(0);
  for (std::thread& thread : threads) thread.join();
}

void run_on_team(std::int64_t tasks, const TeamBody& body) {
  const auto team = make_team(tasks).value();
  on_threads(tasks, [&](std::int64_t task) {
    const auto group = make_team_group(team, task).value();
    body(*group);
  });
}

void run_apart(std::int64_t tasks, const TeamBody& body) {
  const auto team = make_team(tasks).value();
  on_threads(tasks, [&](std::int64_t task) {
    ApartGroup group(make_team_group(team, task).value(), tasks);
    body(group);
  });
}

void run_on_hybrid(const std::vector<std::int64_t>& threads, const TeamBody& body) {
  const auto processes = make_team(static_cast<std::int64_t>(threads.size())).value();
  std::vector<std::pair<std::int64_t, std::int64_t>> tasks;  // process, thread
  std::vector<std::shared_ptr<Team>> teams;
  for (std::size_t p = 0; p < threads.size(); ++p) {
    teams.push_back(make_team(threads[p]).value());
    for (std::int64_t t = 0; t < threads[p]; ++t) tasks.emplace_back(p, t);
  }
  on_threads(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t task) {
    const auto [process, thread] = tasks[static_cast<std::size_t>(task)];
    std::unique_ptr<Group> ranks;
    if (thread == 0) ranks = make_team_group(processes, process).value();
    auto mine = make_team_group(teams[static_cast<std::size_t>(process)], thread).value();
    const auto group = run(make_hybrid_group(std::move(mine), std::move(ranks)));
    ASSERT_TRUE(group.has_value());
    ASSERT_EQ(group.value()->rank(), task);
    body(*group.value());
  });
}

void run_on_callbacks(std::int64_t tasks, std::int64_t tasks_per_process, const TeamBody& body) {
  run_on_team(tasks, [&](Group& server) {
    tw_transport transport = thread_transport(server);
    if (tasks_per_process > 0) {
      transport.process_id = 100 + server.rank() / tasks_per_process;
      transport.node_id = 7 + server.rank() / (2 * tasks_per_process);
    }
    const auto group = run(make_callback_group(transport));
    ASSERT_TRUE(group.has_value());
    body(*group.value());
  });
}

void run_polled(std::int64_t tasks, const OpBody& body) {
  const auto team = make_team(tasks).value();
  Driver driver;
  const Driver::Use use(driver);
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Op<Status>> ops;
  for (std::int64_t task = 0; task < tasks; ++task) {
    groups.push_back(make_team_group(team, task).value());
    ops.push_back(body(*groups.back()));
  }
  for (Op<Status>& op : ops) op.start();
  while (!driver.idle()) driver.step();
  for (Op<Status>& op : ops) {
    ASSERT_TRUE(op.done());
    EXPECT_TRUE(op.value().ok()) << op.value().message();
  }
}

void run_on_sim(const SimOptions& options, const OpBody& body) {
  SimWorld world(options);
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < options.tasks; ++r) ops.push_back(body(world.group(r)));
  const Status end = world.run(std::span(ops));
  ASSERT_TRUE(end.ok()) << end.message();
  for (Op<Status>& op : ops) EXPECT_TRUE(op.value().ok()) << op.value().message();
}

}  // namespace thalweg::test
