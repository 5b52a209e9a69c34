// A task that cannot allocate the result of a collective: one failure on all tasks, and no task hangs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/groups/refused_collectives.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {
namespace {

// Each collective in turn with each task in turn out of memory; afterwards the group still works.
void every_collective_fails_on_all(Group& group) {
  for (TaskRank poor_task = 0; poor_task < group.size(); ++poor_task) {
    const bool poor = group.rank() == poor_task;
    const TaskRank root = (poor_task + 1) % group.size();
    const Bytes data = bytes_of(group.rank(), 1, kLarge);
    Gathered parts;
    for (TaskRank r = 0; r <= group.size(); ++r) parts.begin.push_back(static_cast<std::uint64_t>(r) * kLarge);
    parts.data.resize(parts.begin.back());
    Status broadcast;
    Status gathered;
    Status allgathered;
    Status scattered;
    {
      const Poor scope(poor);
      broadcast = run(group.broadcast(data, root)).status();
      gathered = run(group.gather(data, poor_task)).status();
      allgathered = run(group.allgather(data)).status();
      scattered = run(group.scatter(parts, root)).status();
    }

    EXPECT_EQ(broadcast.code(), Code::no_memory);
    EXPECT_EQ(gathered.code(), Code::no_memory);
    const auto code = static_cast<std::int64_t>(gathered.code());
    const auto least = run(group.allreduce(std::vector<std::int64_t>(1, code), Reduction::min));
    EXPECT_EQ(least.value()[0], code);
    EXPECT_EQ(allgathered.code(), Code::no_memory);
    EXPECT_EQ(scattered.code(), Code::no_memory);
    EXPECT_TRUE(run(group.allgather(data)).has_value());
  }
}

TEST(NoMemory, OfAnyAllocationIsOneStatusOfCallbacks) { run_on_callbacks(3, 3, whatever_is_refused_is_one_status); }

TEST(NoMemory, OfAnyAllocationIsOneStatusOfATeam) { run_on_team(3, whatever_is_refused_is_one_status); }

TEST(NoMemory, OfAnyAllocationIsOneStatusOfAHybrid) { run_on_hybrid({3, 1, 2}, whatever_is_refused_is_one_status); }

TEST(NoMemory, IsTheFailureOfAllTasksOfATeam) { run_on_team(3, every_collective_fails_on_all); }

TEST(NoMemory, IsTheFailureOfAllTasksOfCallbacks) { run_on_callbacks(5, 0, every_collective_fails_on_all); }

TEST(NoMemory, IsTheFailureOfAllTasksOfAHybrid) { run_on_hybrid({2, 1, 2}, every_collective_fails_on_all); }

}  // namespace
}  // namespace thalweg::test
