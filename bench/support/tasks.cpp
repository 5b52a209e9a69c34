// Threads that form a team, with a common start.
#include "support/tasks.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "support/clock.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

struct Interval {
  double start, end;
};

Interval run_task(tw_team* team, int rank, std::latch& ready, const std::function<void(const Task&)>& work) {
  try {
    const auto group = thalweg::Group::make(tw_group_team, team, rank);
    ready.arrive_and_wait();
    const double start = now();
    work({rank, static_cast<int>(tw_group_size(group.get())), group});
    return {start, now()};
  } catch (const std::exception& error) {
    give_up("task " + std::to_string(rank) + ": " + error.what());
  }
}

}  // namespace

double time_tasks(int n, const std::function<void(const Task&)>& work) {
  tw_team* team = nullptr;
  thalweg::check(tw_team_create(n, &team));
  std::latch ready(n);
  std::vector<Interval> intervals(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back([&, rank] { intervals[static_cast<std::size_t>(rank)] = run_task(team, rank, ready, work); });
  for (auto& thread : threads) thread.join();
  tw_team_free(&team);
  Interval whole = intervals.front();
  for (const Interval& one : intervals) whole = {std::min(whole.start, one.start), std::max(whole.end, one.end)};
  return whole.end - whole.start;
}

}  // namespace bench
