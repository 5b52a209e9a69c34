// A task that cannot allocate the result of a collective: one failure on all tasks, and no task hangs.
#include <gtest/gtest.h>

#include <array>
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

// Callbacks that allocate nothing; a refusal fails the collective. Each task publishes the address of its data.
struct Board {
  static constexpr std::size_t kMost = 64;
  std::array<const std::byte*, kMost> from{};
  std::array<std::size_t, kMost> bytes{};
  std::array<std::size_t, kMost> begin{};
};
struct Served {
  Group* team;
  Board* board;
  std::size_t rank() const { return static_cast<std::size_t>(team->rank()); }
  std::size_t size() const { return static_cast<std::size_t>(team->size()); }
  int meet() const { return run(team->barrier()).ok() ? 0 : 1; }
};
Served& served(void* user) { return *static_cast<Served*>(user); }

int meet(void* user) { return served(user).meet(); }

int send_to_all(void* user, void* data, std::size_t nbytes, std::int64_t root) {
  Served& mine = served(user);
  mine.board->from[mine.rank()] = static_cast<const std::byte*>(data);
  int code = mine.meet();
  if (mine.team->rank() != root)
    std::copy_n(mine.board->from[static_cast<std::size_t>(root)], nbytes, static_cast<std::byte*>(data));
  return code + mine.meet();
}

int collect(void* user, const void* data, std::size_t nbytes, void* all, const std::size_t*, std::int64_t root) {
  Served& mine = served(user);
  mine.board->from[mine.rank()] = static_cast<const std::byte*>(data);
  mine.board->bytes[mine.rank()] = nbytes;
  int code = mine.meet();
  auto* to = static_cast<std::byte*>(all);
  for (std::size_t r = 0; mine.team->rank() == root && r < mine.size(); ++r)
    to = std::copy_n(mine.board->from[r], mine.board->bytes[r], to);
  return code + mine.meet();
}

int spread(void* user, const void* all, const std::size_t* nbytes_of, void* data, std::size_t nbytes,
           std::int64_t root) {
  Served& mine = served(user);
  if (mine.team->rank() == root) {
    mine.board->from[0] = static_cast<const std::byte*>(all);
    for (std::size_t r = 0, end = 0; r < mine.size(); end += nbytes_of[r++]) mine.board->begin[r] = end;
  }
  int code = mine.meet();
  std::copy_n(mine.board->from[0] + mine.board->begin[mine.rank()], nbytes, static_cast<std::byte*>(data));
  return code + mine.meet();
}

void run_on_frugal_callbacks(std::int64_t tasks, const TeamBody& body) {
  Board board;
  run_on_team(tasks, [&](Group& team) {
    Served mine{&team, &board};
    tw_collectives calls = {};
    calls.rank = team.rank();
    calls.size = team.size();
    calls.user = &mine;
    calls.barrier = meet;
    calls.broadcast = send_to_all;
    calls.gather = collect;
    calls.scatter = spread;
    calls.process_id = 1;
    calls.node_id = 1;
    const auto group = run(make_callback_group(calls));
    ASSERT_TRUE(group.has_value());
    body(*group.value());
  });
}

TEST(NoMemory, OfAnyAllocationIsOneStatusOfCallbacks) { run_on_frugal_callbacks(3, whatever_is_refused_is_one_status); }

TEST(NoMemory, OfAnyAllocationIsOneStatusOfATeam) { run_on_team(3, whatever_is_refused_is_one_status); }

TEST(NoMemory, OfAnyAllocationIsOneStatusOfAHybrid) { run_on_hybrid({3, 1, 2}, whatever_is_refused_is_one_status); }

TEST(NoMemory, IsTheFailureOfAllTasksOfATeam) { run_on_team(3, every_collective_fails_on_all); }

TEST(NoMemory, IsTheFailureOfAllTasksOfAHybrid) { run_on_hybrid({2, 1, 2}, every_collective_fails_on_all); }

}  // namespace
}  // namespace thalweg::test
