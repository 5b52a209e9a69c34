// Runs one body on every task of a group: on threads, on one polling thread, or simulated.
//
//     run_on_team(5, [](Group& group) { EXPECT_TRUE(run(group.barrier()).ok()); });
//     run_on_sim(1000, seed, [](Group& group) -> Op<Status> { co_return co_await group.barrier(); });
//
// A coroutine lambda with captures must outlive the call; these functions take the body by reference and return after
// the last coroutine has finished.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "group/groups.hpp"
#include "sim/sim_group.hpp"

namespace thalweg::test {

using TeamBody = std::function<void(Group&)>;
using OpBody = std::function<Op<Status>(Group&)>;

// Runs `body(task)` for 0 .. tasks-1, each on its own thread; task 0 on the calling thread.
void on_threads(std::int64_t tasks, const std::function<void(std::int64_t)>& body);

// One thread per task.
void run_on_team(std::int64_t tasks, const TeamBody& body);

// Like run_on_team, each task presented as a process of its own (apart_group.hpp), all on one node.
void run_apart(std::int64_t tasks, const TeamBody& body);

// A hybrid group over a team of "processes"; process p has threads[p] threads.
void run_on_hybrid(const std::vector<std::int64_t>& threads, const TeamBody& body);

// A group of callbacks between threads (thread_transport.hpp); `tasks_per_process` > 0 declares which tasks share memory.
void run_on_callbacks(std::int64_t tasks, std::int64_t tasks_per_process, const TeamBody& body);

// All tasks of a team on the calling thread, polled in turn as by a progress thread. Fails when a task is not ok.
void run_polled(std::int64_t tasks, const OpBody& body);

// Simulated tasks. Fails the test on a deadlock, or when a task is not ok.
void run_on_sim(const SimOptions& options, const OpBody& body);
inline void run_on_sim(TaskRank tasks, std::uint64_t seed, const OpBody& body) {
  run_on_sim(SimOptions{.tasks = tasks, .seed = seed}, body);
}

// Like run_on_sim; returns the results of all tasks by rank, empty after a deadlock.
template <class T, class Body>
std::vector<T> results_on_sim(const SimOptions& options, Body&& body) {
  SimWorld world(options);
  std::vector<Op<T>> ops;
  for (TaskRank r = 0; r < options.tasks; ++r) ops.push_back(body(world.group(r)));
  std::vector<T> results;
  if (!world.run(std::span(ops)).ok()) return results;
  for (Op<T>& op : ops) results.push_back(std::move(op.value()));
  return results;
}

}  // namespace thalweg::test
