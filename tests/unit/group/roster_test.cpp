// Deadlock detection of a team: when no task can continue.
#include "group/team/roster.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace thalweg::test {
namespace {

bool never(const void*, std::uint32_t) { return false; }
bool over(const void*, std::uint32_t) { return true; }

constexpr int kTeams[3] = {};

Roster::Wait wait_in(int team, Call call, bool (*passed)(const void*, std::uint32_t) = never) {
  return {&kTeams[team], 0, passed, name_of(call), call};
}

// Makes a call of `task` on a new thread, which then waits.
void block(Roster& roster, std::int64_t task, const Roster::Wait& wait) {
  std::thread([&] {
    roster.note_thread(task);
    EXPECT_TRUE(roster.put(task, wait));
  }).join();
}

TEST(Roster, ConcludesWhenAllTasksAreBlocked) {
  Roster roster(3);
  block(roster, 0, wait_in(0, Call::tw_file_sync));
  block(roster, 1, wait_in(1, Call::tw_group_barrier));
  EXPECT_FALSE(roster.is_over());
  block(roster, 2, wait_in(0, Call::tw_file_sync));

  EXPECT_TRUE(roster.is_over());
  EXPECT_EQ(roster.now().code(), Code::invalid_argument);
  EXPECT_NE(roster.now().message().find("task 0 is in tw_file_sync, task 1 is in tw_group_barrier"), std::string::npos);
}

TEST(Roster, WaitsForATaskThatWentOn) {
  Roster roster(2);
  std::thread([&] {
    roster.note_thread(0);
    EXPECT_TRUE(roster.put(0, wait_in(0, Call::tw_file_sync)));
    roster.take_off(0);
  }).join();
  block(roster, 1, wait_in(1, Call::tw_group_barrier));

  EXPECT_FALSE(roster.is_over());
}

TEST(Roster, WaitsForATaskThatIsAboutToWakeUp) {
  Roster roster(2);
  block(roster, 0, wait_in(0, Call::tw_file_sync, over));
  block(roster, 1, wait_in(1, Call::tw_group_barrier));

  EXPECT_FALSE(roster.is_over());
}

// Task 0 called from two threads: the second one may still reach the place where task 1 waits.
TEST(Roster, WaitsForTheOtherThreadOfATask) {
  Roster roster(2);
  std::thread([&] { roster.note_thread(0); }).join();
  roster.note_thread(0);
  EXPECT_FALSE(roster.put(0, wait_in(0, Call::tw_file_sync)));
  block(roster, 1, wait_in(1, Call::tw_group_barrier));

  EXPECT_FALSE(roster.is_over());
}

// The second thread of task 0 appears after the first one has blocked.
TEST(Roster, WaitsForAThreadThatComesLater) {
  Roster roster(2);
  block(roster, 0, wait_in(0, Call::tw_file_sync));
  roster.note_thread(0);
  block(roster, 1, wait_in(1, Call::tw_group_barrier));

  EXPECT_FALSE(roster.is_over());
}

}  // namespace
}  // namespace thalweg::test
