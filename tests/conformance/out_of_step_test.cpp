// Threads of a team that make different collective calls at once: all calls fail, none waits, and every later
// collective fails at once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "group/agree.hpp"
#include "support/groups/run_on.hpp"
#include "support/sanitized.hpp"
#include "thalweg/group.h"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 100;  // time limit: then the program ends

class OutOfStep : public testing::Test {
 protected:
  void SetUp() override { ::alarm(patience(kMostSeconds)); }
  void TearDown() override { ::alarm(0); }
};

struct Collective {
  const char* name;
  std::function<Status(Group&, std::size_t bytes)> call;
};

// Each collective with `bytes` of data: in a slot of the team, or borrowed from the caller.
const std::vector<Collective>& collectives() {
  static const std::vector<Collective> all = {
      {"barrier", [](Group& group, std::size_t) { return run(group.barrier()); }},
      {"broadcast", [](Group& group, std::size_t n) { return run(group.broadcast(Bytes(n), 0)).status(); }},
      {"gather", [](Group& group, std::size_t n) { return run(group.gather(Bytes(n), 0)).status(); }},
      {"scatter",
       [](Group& group, std::size_t n) {
         Gathered parts;
         const auto tasks = static_cast<std::size_t>(group.size());
         for (std::size_t r = 0; r <= tasks; ++r) parts.begin.push_back(r * n);
         parts.data.resize(tasks * n);
         return run(group.scatter(parts, 0)).status();
       }},
      {"allgather", [](Group& group, std::size_t n) { return run(group.allgather(Bytes(n))).status(); }},
      {"allreduce",
       [](Group& group, std::size_t n) {
         return run(group.allreduce(std::vector<std::int64_t>(n / 8 + 1), Reduction::sum)).status();
       }},
      {"fold",
       [](Group& group, std::size_t n) {
         Folding::Room mine = {};
         Folding::Room before = {};
         return run(group.fold(&mine, &before, {n, [](void*, const void*) {}}));
       }},
      {"exchange",
       [](Group& group, std::size_t n) {
         return run(group.exchange(std::vector<Message>(1, Message{0, Bytes(n)}))).status();
       }},
      {"share_in_process",
       [](Group& group, std::size_t) {
         return run(group.share_in_process([] { return std::make_shared<int>(1); })).status();
       }},
      {"duplicate", [](Group& group, std::size_t) { return run(group.duplicate()).status(); }},
  };
  return all;
}

// Statuses of all tasks when task `odd` makes a different call, and of a later collective, alone.
void refuse(Group& group, TaskRank odd, const std::function<Status()>& mine, std::vector<std::string>& said) {
  const Status status = mine();
  EXPECT_EQ(status.code(), Code::invalid_argument) << status.message();
  said[static_cast<std::size_t>(group.rank())] = status.message();
  if (group.rank() != odd) return;
  const Status later = run(group.barrier());  // the other tasks do not call it
  EXPECT_EQ(later.code(), Code::invalid_argument);
  EXPECT_NE(later.message(), status.message());
}

TEST_F(OutOfStep, DifferentCollectivesOfATeamAreRefusedOnAllTasks) {
  for (const std::int64_t tasks : {2, 3, 5, 16}) {
    for (const Collective& one : collectives()) {
      for (const Collective& other : collectives()) {
        if (&one == &other) continue;
        const TaskRank odd = tasks == 3 ? 0 : tasks - 1;
        const std::size_t bytes = tasks % 2 == 0 ? 8 : 400;
        std::vector<std::string> said(static_cast<std::size_t>(tasks));
        run_on_team(tasks, [&](Group& group) {
          const Collective& mine = group.rank() == odd ? one : other;
          refuse(
              group, odd, [&] { return mine.call(group, bytes); }, said);
        });
        for (const std::string& text : said) EXPECT_EQ(text, said[0]);
        EXPECT_NE(said[0].find(one.name), std::string::npos) << said[0];
        EXPECT_NE(said[0].find(other.name), std::string::npos) << said[0];
        if (HasFailure()) FAIL() << one.name << " and " << other.name << " by " << tasks;
      }
    }
  }
}

TEST_F(OutOfStep, ThreeDifferentOnesAreRefused) {
  const auto& all = collectives();
  for (std::size_t first = 0; first < all.size(); ++first) {
    run_on_team(3, [&](Group& group) {
      const Collective& mine = all[(first + 3 * static_cast<std::size_t>(group.rank())) % all.size()];
      EXPECT_EQ(mine.call(group, 8).code(), Code::invalid_argument);
    });
  }
}

// A task that has freed its group makes no further call, so no task may wait for it.
TEST_F(OutOfStep, ATaskThatHasFreedItsGroupIsNotWaitedFor) {
  for (const std::int64_t tasks : {2, 5}) {
    for (const Collective& one : collectives()) {
      run_on_team(tasks, [&](Group& group) {
        EXPECT_TRUE(run(group.barrier()).ok());
        if (group.rank() == 1) return;
        const Status status = one.call(group, 8);
        EXPECT_EQ(status.code(), Code::invalid_argument) << one.name;
        EXPECT_NE(status.message().find("task 1 has left"), std::string::npos) << status.message();
        EXPECT_EQ(run(group.barrier()).code(), Code::invalid_argument);
      });
    }
  }
}

struct Call {
  const char* name;
  std::function<tw_status(tw_group*)> call;
};

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"tw_group_barrier", [](tw_group* group) { return tw_group_barrier(group); }},
      {"tw_group_broadcast",
       [](tw_group* group) {
         int value = 0;
         return tw_group_broadcast(group, &value, sizeof value, 0);
       }},
      {"tw_group_allreduce",
       [](tw_group* group) {
         std::int64_t value = 0;
         return tw_group_allreduce(group, &value, 1, TW_SUM);
       }},
      {"tw_group_agree", [](tw_group* group) { return tw_group_agree(group, TW_OK, 0, nullptr); }},
      {"tw_group_duplicate",
       [](tw_group* group) {
         tw_group* copy = nullptr;
         const tw_status status = tw_group_duplicate(group, &copy);
         tw_group_free(&copy);
         return status;
       }},
  };
  return all;
}

// A group of `tasks` threads made through the C API.
void on_c_team(std::int64_t tasks, const std::function<void(tw_group*, std::int64_t)>& body) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(tasks, &team), TW_OK);
  on_threads(tasks, [&](std::int64_t task) {
    tw_group* group = nullptr;
    ASSERT_EQ(tw_group_team(team, task, &group), TW_OK);
    body(group, task);
    tw_group_free(&group);
  });
  tw_team_free(&team);
}

TEST_F(OutOfStep, DifferentCallsOnAGroupAreNamed) {
  for (const Call& one : calls()) {
    for (const Call& other : calls()) {
      if (&one == &other) continue;
      on_c_team(3, [&](tw_group* group, std::int64_t task) {
        EXPECT_EQ((task == 1 ? one : other).call(group), TW_ERR_INVALID);
        const std::string said = tw_last_error();
        EXPECT_NE(said.find(std::string("task 0 is in ") + other.name), std::string::npos) << said;
        EXPECT_NE(said.find(std::string("task 1 is in ") + one.name), std::string::npos) << said;
        if (task == 1) return;
        EXPECT_EQ(one.call(group), TW_ERR_INVALID);  // the call of task 1, but too late
        const std::string later = tw_last_error();
        EXPECT_NE(later.find("task 1 was in"), std::string::npos) << later;
      });
    }
  }
}

}  // namespace
}  // namespace thalweg::test
