// Requests of ranks: a wait needs the progress of the other ranks, whichever library call they are in.
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdio.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 100;
constexpr int kRounds = 24;

char byte_of(std::int64_t task, int round) { return static_cast<char>('a' + (task * 5 + round) % 26); }

class MpiRequests : public testing::TestWithParam<tw_progress> {
 protected:
  static tw_access write_of(const tw_extent& extent, tw_placement placement) {
    tw_access access{};
    access.struct_size = sizeof access;
    access.direction = TW_ACCESS_WRITE;
    access.placement = placement;
    access.progress = GetParam();
    access.extents = &extent;
    access.n = 1;
    return access;
  }
  // Ranks are in different calls while requests are outstanding: one in an access that waits for its turn, one in a
  // barrier, one in a wait.
  void write(tw_group* group) {
    const std::int64_t task = tw_group_rank(group);
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, folder_.path("f").c_str(), TW_WRITE | TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
        << tw_last_error();
    std::vector<std::string> data;
    for (int i = 0; i < kRounds; ++i) data.emplace_back(static_cast<std::size_t>(kPiece), byte_of(task, i));
    std::vector<tw_request*> requests;
    for (int i = 0; i < kRounds; ++i) {
      tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, 0};
      const tw_access access = write_of(extent, TW_IN_ORDER);
      if (i % 12 == 11) {
        EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_OK) << tw_last_error();
      } else {
        requests.push_back(nullptr);
        ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests.back()), TW_OK) << tw_last_error();
      }
    }
    if (task % 2 == 0) {
      EXPECT_EQ(tw_request_waitall(requests.size(), requests.data(), nullptr, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_request_waitall(requests.size(), requests.data(), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  // Collectives of ranks and accesses of one task, which different threads may advance, in one list.
  void find_some(tw_group* group, bool waits) {
    const std::int64_t task = tw_group_rank(group), tasks = tw_group_size(group);
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, folder_.path("f").c_str(), TW_WRITE | TW_CREATE, nullptr, &file), TW_OK)
        << tw_last_error();
    std::vector<std::string> data;
    for (int i = 0; i < kRounds; ++i) data.emplace_back(static_cast<std::size_t>(kPiece), byte_of(task, i));
    tw_request* requests[kRounds] = {};
    for (int i = 0; i < kRounds; ++i) {
      const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, (i * tasks + task) * kPiece};
      const tw_access access = write_of(extent, TW_AT_EXTENTS);
      ASSERT_EQ(i % 2 == 0 ? tw_file_iaccess_all(file, nullptr, &access, &requests[i])
                           : tw_file_iaccess(file, &access, &requests[i]),
                TW_OK)
          << tw_last_error();
    }
    std::int64_t left = kRounds, indices[kRounds] = {}, n_done = 0;
    std::size_t moved[kRounds] = {};
    while (left > 0) {
      EXPECT_EQ(waits ? tw_request_waitsome(kRounds, requests, &n_done, indices, nullptr, moved)
                      : tw_request_testsome(kRounds, requests, &n_done, indices, nullptr, moved),
                TW_OK)
          << tw_last_error();
      for (std::int64_t i = 0; i < n_done; ++i) EXPECT_EQ(moved[i], static_cast<std::size_t>(kPiece));
      left -= n_done;
    }
    int done = 0;
    EXPECT_EQ(tw_request_testany(kRounds, requests, &done, &n_done, nullptr), TW_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(n_done, TW_UNDEFINED);
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  // A thread starts a request and exits. One task waits for it, while new threads of the other tasks are in a
  // collective without requests.
  void sync_while_others_wait(tw_group* group) {
    const std::int64_t task = tw_group_rank(group);
    const std::int64_t tasks = tw_group_size(group);
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, folder_.path("f").c_str(), TW_WRITE | TW_CREATE, nullptr, &file), TW_OK)
        << tw_last_error();
    for (int who = 0; who < tasks; ++who) {
      const std::string data(static_cast<std::size_t>(kPiece), byte_of(task, who));
      const tw_extent extent{const_cast<char*>(data.data()), kPiece, (who * tasks + task) * kPiece};
      const tw_access access = write_of(extent, TW_AT_EXTENTS);
      tw_request* request = nullptr;
      std::thread([&] {
        EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << tw_last_error();
      }).join();
      if (task == who) {
        EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
      }
      std::thread([&] { EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error(); }).join();
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  void expect_written(std::int64_t tasks, std::int64_t rounds = kRounds) const {
    std::string expected;
    for (int i = 0; i < rounds; ++i)
      for (std::int64_t task = 0; task < tasks; ++task)
        expected.append(static_cast<std::size_t>(kPiece), byte_of(task, i));
    std::ifstream in(folder_.path("f"), std::ios::binary);
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == expected);
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_P(MpiRequests, AreAdvancedByRanksThatWaitElsewhere) {
  write(world_.group());

  if (world_.rank() == 0) expect_written(world_.size());
}

TEST_P(MpiRequests, AreFoundSomeAtATime) {
  for (const bool waits : {false, true}) find_some(world_.group(), waits);

  if (world_.rank() == 0) expect_written(world_.size());
}

TEST_P(MpiRequests, OfThreadsOfRanksToo) {
  on_threads_of_ranks(world_, 2, [&](tw_group* group) { write(group); });

  if (world_.rank() == 0) expect_written(2 * world_.size());
}

// Whether only the main thread may make calls of ranks.
bool only_main_thread() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level < MPI_THREAD_SERIALIZED;
}

TEST_P(MpiRequests, AreAdvancedInAnyCollectiveOfRanks) {
  if (only_main_thread()) GTEST_SKIP() << "other threads start requests here";
  sync_while_others_wait(world_.group());

  if (world_.rank() == 0) expect_written(world_.size(), world_.size());
}

TEST_P(MpiRequests, AreAdvancedInAnyCollectiveOfThreadsOfRanks) {
  if (only_main_thread()) GTEST_SKIP() << "other threads start requests here";
  on_threads_of_ranks(world_, 2, [&](tw_group* group) { sync_while_others_wait(group); });

  if (world_.rank() == 0) expect_written(2 * world_.size(), 2 * world_.size());
}

INSTANTIATE_TEST_SUITE_P(Modes, MpiRequests, testing::Values(TW_PROGRESS_THREAD, TW_PROGRESS_POLL));

}  // namespace
}  // namespace thalweg::test
