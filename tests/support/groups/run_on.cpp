#include "support/groups/run_on.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>

#include "support/groups/apart_group.hpp"

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

namespace {

Group& served_by(void* user) { return *static_cast<Group*>(user); }

int code_of(const Status& status) { return status.ok() ? 0 : 5; }

int call_barrier(void* user) { return code_of(run(served_by(user).barrier())); }

int call_broadcast(void* user, void* data, std::size_t nbytes, std::int64_t root) {
  const auto copy = run(served_by(user).broadcast({static_cast<std::byte*>(data), nbytes}, root));
  if (copy.has_value()) std::memcpy(data, copy.value().data(), nbytes);
  return code_of(copy.status());
}

int call_gather(void* user, const void* data, std::size_t nbytes, void* all, const std::size_t* nbytes_of,
                std::int64_t root) {
  const auto parts = run(served_by(user).gather({static_cast<const std::byte*>(data), nbytes}, root));
  if (!parts.has_value()) return code_of(parts.status());
  auto* to = static_cast<std::byte*>(all);
  for (std::size_t i = 0; i < parts.value().parts(); ++i) {
    const ByteView part = parts.value().part(i);
    if (part.size() != nbytes_of[i]) return 6;
    to = std::copy(part.begin(), part.end(), to);
  }
  return 0;
}

int call_scatter(void* user, const void* all, const std::size_t* nbytes_of, void* data, std::size_t nbytes,
                 std::int64_t root) {
  Group& group = served_by(user);
  Gathered parts;
  if (group.rank() == root) {
    std::uint64_t end = 0;
    for (std::int64_t i = 0; i < group.size(); ++i) {
      parts.begin.push_back(end);
      end += nbytes_of[i];
    }
    parts.begin.push_back(end);
    const auto* from = static_cast<const std::byte*>(all);
    parts.data.assign(from, from + end);
  }
  const auto mine = run(group.scatter(parts, root));
  if (!mine.has_value()) return code_of(mine.status());
  if (mine.value().size() != nbytes) return 7;
  std::copy(mine.value().begin(), mine.value().end(), static_cast<std::byte*>(data));
  return 0;
}

int call_duplicate(void* user, void** copy) {
  auto made = run(served_by(user).duplicate());
  if (!made.has_value()) return code_of(made.status());
  *copy = std::move(made).value().release();
  return 0;
}

void call_release(void* user) { delete static_cast<Group*>(user); }

}  // namespace

void run_on_callbacks(std::int64_t tasks, std::int64_t tasks_per_process, const TeamBody& body) {
  run_on_team(tasks, [&](Group& server) {
    tw_collectives calls = {};
    calls.rank = server.rank();
    calls.size = server.size();
    calls.user = run(server.duplicate()).value().release();
    calls.barrier = call_barrier;
    calls.broadcast = call_broadcast;
    calls.gather = call_gather;
    calls.scatter = call_scatter;
    calls.duplicate = call_duplicate;
    calls.release = call_release;
    calls.process_id = calls.node_id = -1;
    if (tasks_per_process > 0) {
      calls.process_id = 100 + server.rank() / tasks_per_process;
      calls.node_id = 7 + server.rank() / (2 * tasks_per_process);
    }
    const auto group = run(make_callback_group(calls));
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
