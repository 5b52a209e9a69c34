// group.h from a C program's view, on threads: teams, hybrids, callbacks, wrong arguments.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/groups/run_on.hpp"
#include "support/groups/thread_transport.hpp"
#include "thalweg/group.h"

namespace thalweg::test {
namespace {

// A group of `tasks` threads made through the C API; each handle is freed by its thread.
void on_c_team(std::int64_t tasks, const std::function<void(tw_group*)>& body) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(tasks, &team), TW_OK);
  on_threads(tasks, [&](std::int64_t task) {
    tw_group* group = nullptr;
    ASSERT_EQ(tw_group_team(team, task, &group), TW_OK);
    body(group);
    tw_group_free(&group);
  });
  tw_team_free(&team);
}

TEST(GroupCapi, SelfIsAGroupOfOne) {
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_self(&group), TW_OK);

  EXPECT_EQ(tw_group_rank(group), 0);
  EXPECT_EQ(tw_group_size(group), 1);
  EXPECT_STREQ(tw_group_kind(group), "self");
  EXPECT_EQ(tw_group_barrier(group), TW_OK);
  tw_group_free(&group);
}

TEST(GroupCapi, NullIsRefusedWithAMessage) {
  EXPECT_EQ(tw_group_self(nullptr), TW_ERR_INVALID);
  EXPECT_STREQ(tw_last_error(), "tw_group_self: group is NULL");
  EXPECT_EQ(tw_team_create(2, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_barrier(nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_broadcast(nullptr, nullptr, 0, 0), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_allreduce(nullptr, nullptr, 0, TW_SUM), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_duplicate(nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_rank(nullptr), -1);
  EXPECT_EQ(tw_group_size(nullptr), -1);
  EXPECT_STREQ(tw_group_kind(nullptr), "");
  tw_group_free(nullptr);
  tw_team_free(nullptr);
}

TEST(GroupCapi, ATeamOfNoTasksIsRefused) {
  tw_team* team = nullptr;

  EXPECT_EQ(tw_team_create(0, &team), TW_ERR_INVALID);
  EXPECT_EQ(team, nullptr);
}

TEST(GroupCapi, ATeamReducesAndBroadcasts) {
  on_c_team(3, [](tw_group* group) {
    std::int64_t values[2] = {tw_group_rank(group) + 1, -tw_group_rank(group)};
    EXPECT_EQ(tw_group_allreduce(group, values, 2, TW_SUM), TW_OK);
    EXPECT_EQ(values[0], 6);
    EXPECT_EQ(values[1], -3);
    EXPECT_EQ(tw_group_allreduce(group, values, 0, TW_MIN), TW_OK);

    std::vector<char> text(5000, static_cast<char>('a' + tw_group_rank(group)));
    EXPECT_EQ(tw_group_broadcast(group, text.data(), text.size(), 2), TW_OK);
    EXPECT_EQ(text, std::vector<char>(5000, 'c'));
  });
}

TEST(GroupCapi, AWrongArgumentOfOneTaskIsTheFailureOfAll) {
  on_c_team(3, [](tw_group* group) {
    const bool wrong = tw_group_rank(group) == 1;
    std::int64_t value = 1;

    EXPECT_EQ(tw_group_allreduce(group, wrong ? nullptr : &value, 1, TW_SUM), TW_ERR_INVALID);
    EXPECT_STREQ(tw_last_error(), "task 1: tw_group_allreduce: values is NULL");
    EXPECT_EQ(tw_group_allreduce(group, &value, 1, wrong ? TW_MIN : TW_SUM), TW_ERR_INVALID);
    EXPECT_EQ(tw_group_allreduce(group, &value, 1, 99), TW_ERR_INVALID);
    EXPECT_EQ(tw_group_broadcast(group, &value, wrong ? 4 : 8, 0), TW_ERR_INVALID);
    EXPECT_EQ(tw_group_broadcast(group, &value, 8, wrong ? 0 : 1), TW_ERR_INVALID);
    EXPECT_EQ(tw_group_broadcast(group, &value, 8, 3), TW_ERR_INVALID);
    tw_group* copy = nullptr;
    EXPECT_EQ(tw_group_duplicate(group, wrong ? nullptr : &copy), TW_ERR_INVALID);
    EXPECT_EQ(copy, nullptr);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
  });
}

TEST(GroupCapi, ADuplicateOutlivesItsGroup) {
  on_c_team(2, [](tw_group* group) {
    tw_group* first = nullptr;
    tw_group* second = nullptr;
    ASSERT_EQ(tw_group_duplicate(group, &first), TW_OK);
    ASSERT_EQ(tw_group_duplicate(first, &second), TW_OK);
    tw_group_free(&first);

    EXPECT_EQ(tw_group_barrier(second), TW_OK);
    EXPECT_EQ(tw_group_rank(second), tw_group_rank(group));
    tw_group_free(&second);
  });
}

// Two "processes" of three threads; `ranks` is a team of two.
void on_c_hybrid(const std::function<void(std::int64_t task, tw_group* threads, tw_group* ranks)>& body) {
  tw_team* processes = nullptr;
  tw_team* teams[2] = {nullptr, nullptr};
  ASSERT_EQ(tw_team_create(2, &processes), TW_OK);
  ASSERT_EQ(tw_team_create(3, &teams[0]), TW_OK);
  ASSERT_EQ(tw_team_create(3, &teams[1]), TW_OK);
  on_threads(6, [&](std::int64_t task) {
    tw_group* threads = nullptr;
    tw_group* ranks = nullptr;
    ASSERT_EQ(tw_group_team(teams[task / 3], task % 3, &threads), TW_OK);
    if (task % 3 == 0) {
      ASSERT_EQ(tw_group_team(processes, task / 3, &ranks), TW_OK);
    }
    body(task, threads, ranks);
    tw_group_free(&ranks);
    tw_group_free(&threads);
  });
  tw_team_free(&processes);
  tw_team_free(&teams[0]);
  tw_team_free(&teams[1]);
}

TEST(GroupCapi, AHybridNumbersAllThreadsOfAllRanks) {
  on_c_hybrid([](std::int64_t task, tw_group* threads, tw_group* ranks) {
    tw_group* all = nullptr;
    ASSERT_EQ(tw_group_hybrid(threads, ranks, &all), TW_OK);

    EXPECT_EQ(tw_group_rank(all), task);
    EXPECT_EQ(tw_group_size(all), 6);
    EXPECT_STREQ(tw_group_kind(all), "hybrid");
    std::int64_t sum = task;
    EXPECT_EQ(tw_group_allreduce(all, &sum, 1, TW_SUM), TW_OK);
    EXPECT_EQ(sum, 15);
    tw_group_free(&all);
  });
}

TEST(GroupCapi, AHybridNeedsTheGroupOfTheProcesses) {
  on_c_hybrid([](std::int64_t, tw_group* threads, tw_group*) {
    tw_group* all = nullptr;
    EXPECT_EQ(tw_group_hybrid(threads, nullptr, &all), TW_ERR_INVALID);
    EXPECT_STREQ(tw_last_error(), "task 0: tw_group_hybrid: ranks is NULL");
    EXPECT_EQ(all, nullptr);
  });
}

TEST(GroupCapi, AHybridFailsOnAllTasksWhenOneHasNowhereToPutIt) {
  on_c_hybrid([](std::int64_t task, tw_group* threads, tw_group* ranks) {
    tw_group* all = nullptr;
    EXPECT_EQ(tw_group_hybrid(threads, ranks, task == 4 ? nullptr : &all), TW_ERR_INVALID);
    EXPECT_EQ(all, nullptr);
  });
}

TEST(GroupCapi, CallbacksThatAreIncompleteAreRefused) {
  tw_transport calls;
  std::memset(&calls, 0, sizeof calls);
  tw_group* group = nullptr;

  EXPECT_EQ(tw_group_callbacks(nullptr, &group), TW_ERR_INVALID);
  EXPECT_EQ(tw_group_callbacks(&calls, &group), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("struct_size"), std::string::npos);
  calls.struct_size = sizeof calls;
  calls.size = 1;
  EXPECT_EQ(tw_group_callbacks(&calls, &group), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("send_receive is NULL"), std::string::npos);
  EXPECT_EQ(group, nullptr);
}

// A transport that fails on request, and counts releases.
struct Unreliable {
  tw_transport reliable;
  int fails = 0;
  int released = 0;
};
tw_transport unreliable_transport(Unreliable* user) {
  tw_transport transport = user->reliable;
  transport.user = user;
  transport.send_receive = [](void* self, const void* out, std::size_t nbytes_out, std::int64_t to, void* in,
                              std::size_t nbytes_in, std::int64_t from) {
    const auto& mine = *static_cast<Unreliable*>(self);
    if (mine.fails != 0) return mine.fails;
    return mine.reliable.send_receive(mine.reliable.user, out, nbytes_out, to, in, nbytes_in, from);
  };
  transport.duplicate = nullptr;
  transport.release = [](void* self) {
    auto& mine = *static_cast<Unreliable*>(self);
    if (mine.released++ == 0) mine.reliable.release(mine.reliable.user);
  };
  return transport;
}

TEST(GroupCapi, CallbacksServeAndAreReleasedOnce) {
  run_on_team(2, [](Group& team) {
    Unreliable user{thread_transport(team)};
    const tw_transport transport = unreliable_transport(&user);
    tw_group* group = nullptr;
    ASSERT_EQ(tw_group_callbacks(&transport, &group), TW_OK);
    tw_group* copy = nullptr;
    ASSERT_EQ(tw_group_duplicate(group, &copy), TW_OK);

    EXPECT_EQ(tw_group_barrier(copy), TW_OK);
    tw_group_free(&group);
    EXPECT_EQ(user.released, 0);
    tw_group_free(&copy);
    EXPECT_EQ(user.released, 1);
  });
}

TEST(GroupCapi, AFailingCallbackIsReportedWithItsNumber) {
  run_on_team(2, [](Group& team) {
    Unreliable user{thread_transport(team)};
    const tw_transport transport = unreliable_transport(&user);
    tw_group* group = nullptr;
    ASSERT_EQ(tw_group_callbacks(&transport, &group), TW_OK);
    user.fails = 42;

    EXPECT_EQ(tw_group_barrier(group), TW_ERR_IO);
    EXPECT_STREQ(tw_last_error(), "the caller's send_receive returned 42");
    tw_group_free(&group);
  });
}

}  // namespace
}  // namespace thalweg::test
