// Requests: any number outstanding, waited for in any order, in each mode of progress, beside blocking calls.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 100;

class Requests : public SharedFiles, public testing::WithParamInterface<tw_progress> {
 protected:
  tw_access at_extents(tw_direction direction, const tw_extent* extent) const {
    tw_access access = access_of(direction, TW_AT_EXTENTS, extent, 1);
    access.progress = GetParam();
    return access;
  }
  tw_access in_order(tw_direction direction, const tw_extent* extent) const {
    tw_access access = access_of(direction, TW_IN_ORDER, extent, 1);
    access.progress = GetParam();
    return access;
  }
  // Expected content after each task has written its piece, round after round.
  static std::string rounds(int tasks, int n) {
    std::string all;
    for (int round = 0; round < n; ++round)
      for (int task = 0; task < tasks; ++task) all += text_of(task, kPiece, round);
    return all;
  }
};

// Collectives of callbacks block inside the callback: the call that starts such an access completes it.
TEST_P(Requests, OfGroupsOfCallbacksAreCarriedOutAtTheCall) {
  constexpr int kTasks = 4;
  constexpr int kMany = 6;
  for (const int per_process : {1, 2, 4}) {
    for (const bool ordered : {false, true}) {
      run_on_callbacks(kTasks, per_process, [&](Group& made) {
        tw_group group{std::shared_ptr<Group>(&made, [](Group*) {})};
        const int task = static_cast<int>(made.rank());
        tw_file* file = open(&group);
        ASSERT_NE(file, nullptr) << tw_last_error();
        tw_progress effective = TW_PROGRESS_DEFAULT;
        EXPECT_EQ(tw_file_progress(file, GetParam(), &effective), TW_OK);
        EXPECT_EQ(effective, TW_PROGRESS_POLL);
        std::vector<std::string> data;
        for (int i = 0; i < kMany; ++i) data.push_back(text_of(task, kPiece, i));
        std::vector<tw_request*> requests(kMany);
        for (int i = 0; i < kMany; ++i) {
          const auto n = static_cast<std::size_t>(i);
          const tw_extent extent{data[n].data(), kPiece, (i * kTasks + task) * kPiece};
          const tw_access access = ordered ? in_order(TW_ACCESS_WRITE, &extent) : at_extents(TW_ACCESS_WRITE, &extent);
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[n]), TW_OK) << tw_last_error();
        }
        EXPECT_EQ(tw_request_waitall(kMany, requests.data(), nullptr, nullptr), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
      });
      EXPECT_EQ(content(), rounds(kTasks, kMany)) << per_process << " to a process";
    }
  }
}

// Starts a hundred writes, then waits for all, in a different order on every task.
TEST_P(Requests, ManyAreWaitedForInAnyOrder) {
  for (const int tasks : {1, 2, 3, 5}) {
    constexpr int kMany = 100;
    on_file(tasks, [&](tw_file* file, int task) {
      std::vector<std::string> data;
      for (int i = 0; i < kMany; ++i) data.push_back(text_of(task, kPiece, i));
      std::vector<tw_request*> requests(kMany);
      std::vector<int> order(kMany);
      for (int i = 0; i < kMany; ++i) {
        const auto n = static_cast<std::size_t>(i);
        const tw_extent extent{data[n].data(), kPiece, (i * tasks + task) * kPiece};
        const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
        ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[n]), TW_OK) << tw_last_error();
        order[n] = i;
      }
      std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(task)));
      for (const int i : order) {
        std::size_t moved = 0;
        EXPECT_EQ(tw_request_wait(&requests[static_cast<std::size_t>(i)], &moved), TW_OK) << tw_last_error();
        EXPECT_EQ(moved, kPiece);
        EXPECT_EQ(requests[static_cast<std::size_t>(i)], nullptr);
      }
    });
    EXPECT_EQ(content(), rounds(tasks, kMany)) << tasks;
  }
}

// Blocking and nonblocking accesses in order follow the order of their calls.
TEST_P(Requests, InOrderTheyFollowTheirCalls) {
  for (const int tasks : {1, 2, 3, 5}) {
    on_file(tasks, [&](tw_file* file, int task) {
      std::vector<std::string> data;
      for (int i = 0; i < 40; ++i) data.push_back(text_of(task, kPiece, i));
      std::vector<tw_request*> requests;
      for (int i = 0; i < 40; ++i) {
        const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, 0};
        const tw_access access = in_order(TW_ACCESS_WRITE, &extent);
        if (i % 7 == 6) {
          ASSERT_EQ(tw_file_write_all(file, extent.address, kPiece), TW_OK) << tw_last_error();
        } else {
          requests.push_back(nullptr);
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests.back()), TW_OK) << tw_last_error();
        }
      }
      std::int64_t position = 0;
      EXPECT_EQ(tw_file_seek(file, 0, SEEK_CUR, &position), TW_OK) << tw_last_error();
      EXPECT_EQ(position, 40 * tasks * kPiece);
      EXPECT_EQ(tw_request_waitall(static_cast<std::int64_t>(requests.size()), requests.data(), nullptr, nullptr),
                TW_OK)
          << tw_last_error();
    });
    EXPECT_EQ(content(), rounds(tasks, 40)) << tasks;
  }
}

// Requests read at the positions set by seeks between them.
TEST_P(Requests, ASeekIsInTheOrderOfTheCallsToo) {
  put(rounds(3, 10));
  on_file(
      3,
      [&](tw_file* file, int task) {
        std::string data[3];
        tw_request* requests[3] = {};
        for (int i = 0; i < 3; ++i) {
          data[i].assign(kPiece, '#');
          ASSERT_EQ(tw_file_seek(file, (7 - 3 * i) * 3 * kPiece, SEEK_SET, nullptr), TW_OK);
          const tw_extent extent{data[i].data(), kPiece, 0};
          const tw_access access = in_order(TW_ACCESS_READ, &extent);
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[i]), TW_OK) << tw_last_error();
        }
        EXPECT_EQ(tw_request_waitall(3, requests, nullptr, nullptr), TW_OK) << tw_last_error();
        for (int i = 0; i < 3; ++i) EXPECT_EQ(data[i], text_of(task, kPiece, 7 - 3 * i));
      },
      TW_READ);
}

TEST_P(Requests, WaitAnyGivesEachOnce) {
  on_file(3, [&](tw_file* file, int task) {
    constexpr std::size_t kMany = 20;
    const std::string data = text_of(task, kPiece);
    tw_request* requests[kMany + 1] = {};  // one is null from the start
    for (std::size_t i = 0; i < kMany; ++i) {
      const tw_extent extent{const_cast<char*>(data.data()), kPiece,
                             (static_cast<std::int64_t>(i) * 3 + task) * kPiece};
      const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
      ASSERT_EQ(i % 2 == 0 ? tw_file_iaccess_all(file, nullptr, &access, &requests[i])
                           : tw_file_iaccess(file, &access, &requests[i]),
                TW_OK)
          << tw_last_error();
    }
    std::vector<int> times(kMany);
    for (std::size_t i = 0; i < kMany; ++i) {
      std::int64_t index = 0;
      std::size_t moved = 0;
      ASSERT_EQ(tw_request_waitany(kMany + 1, requests, &index, &moved), TW_OK) << tw_last_error();
      ASSERT_LT(static_cast<std::size_t>(index), kMany);
      EXPECT_EQ(moved, kPiece);
      ++times[static_cast<std::size_t>(index)];
    }
    EXPECT_EQ(times, std::vector<int>(kMany, 1));
    std::int64_t index = 0;
    EXPECT_EQ(tw_request_waitany(kMany + 1, requests, &index, nullptr), TW_OK);
    EXPECT_EQ(index, TW_UNDEFINED) << "when all are NULL";
  });
}

TEST_P(Requests, TestSaysDoneInTheEnd) {
  on_file(5, [&](tw_file* file, int task) {
    const std::string data = text_of(task, kPiece);
    const tw_extent extent{const_cast<char*>(data.data()), kPiece, task * kPiece};
    const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
    tw_request* request = nullptr;
    ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK);
    int done = 0;
    std::size_t moved = 0;
    while (done == 0) ASSERT_EQ(tw_request_test(&request, &done, &moved), TW_OK) << tw_last_error();
    EXPECT_EQ(moved, kPiece);
    EXPECT_EQ(request, nullptr);
    EXPECT_EQ(tw_request_test(&request, &done, &moved), TW_OK);
    EXPECT_EQ(done, 1) << "of a NULL request";
  });
  EXPECT_EQ(content(), rounds(5, 1));
}

// Each call, on no requests and on NULL entries only.
TEST_P(Requests, WithoutAnyAreCompleteAndUndefined) {
  tw_request* none[3] = {};
  for (const std::int64_t n : {0, 3}) {
    tw_request** requests = n == 0 ? nullptr : none;
    int done = 7;
    std::int64_t index = 7, n_done = 7, indices[3] = {7, 7, 7};
    tw_status statuses[3] = {7, 7, 7};
    std::size_t moved[3] = {7, 7, 7};
    EXPECT_EQ(tw_request_waitall(n, requests, statuses, moved), TW_OK);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(statuses[i], n == 0 ? 7 : TW_OK);
      EXPECT_EQ(moved[i], n == 0 ? 7u : 0u);
    }
    EXPECT_EQ(tw_request_testall(n, requests, &done, nullptr, nullptr), TW_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(tw_request_waitany(n, requests, &index, moved), TW_OK);
    EXPECT_EQ(index, TW_UNDEFINED);
    EXPECT_EQ(moved[0], 0u);
    done = 7, index = 7, moved[0] = 7;
    EXPECT_EQ(tw_request_testany(n, requests, &done, &index, moved), TW_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(index, TW_UNDEFINED);
    EXPECT_EQ(moved[0], 0u);
    EXPECT_EQ(tw_request_waitsome(n, requests, &n_done, indices, statuses, moved), TW_OK);
    EXPECT_EQ(n_done, TW_UNDEFINED);
    n_done = 7;
    EXPECT_EQ(tw_request_testsome(n, requests, &n_done, indices, nullptr, nullptr), TW_OK);
    EXPECT_EQ(n_done, TW_UNDEFINED);
    EXPECT_EQ(indices[0], 7);
  }
}

// Requests that other tasks have not started yet: none is complete, and nothing is freed.
TEST_P(Requests, ThatAreNotCompleteStayUntouched) {
  std::atomic<bool> tested{false};
  on_file(2, [&](tw_file* file, int task) {
    const std::string data = text_of(task, kPiece);
    tw_request* requests[2] = {};
    const auto start = [&] {
      for (int i = 0; i < 2; ++i) {
        const tw_extent extent{const_cast<char*>(data.data()), kPiece, (2 * i + task) * kPiece};
        const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
        ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[i]), TW_OK) << tw_last_error();
      }
    };
    if (task == 1) {
      while (!tested) std::this_thread::yield();
      start();
    } else {
      start();
      tw_request* const before[2] = {requests[0], requests[1]};
      int done = 7;
      std::int64_t index = 7, n_done = 7, indices[2] = {7, 7};
      tw_status statuses[2] = {7, 7};
      std::size_t moved[2] = {7, 7};
      EXPECT_EQ(tw_request_test(&requests[0], &done, moved), TW_OK);
      EXPECT_EQ(done, 0);
      done = 7;
      EXPECT_EQ(tw_request_testall(2, requests, &done, statuses, moved), TW_OK);
      EXPECT_EQ(done, 0);
      done = 7;
      EXPECT_EQ(tw_request_testany(2, requests, &done, &index, moved), TW_OK);
      EXPECT_EQ(done, 0);
      EXPECT_EQ(index, TW_UNDEFINED);
      EXPECT_EQ(tw_request_testsome(2, requests, &n_done, indices, statuses, moved), TW_OK);
      EXPECT_EQ(n_done, 0);
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(requests[i], before[i]);
        EXPECT_EQ(statuses[i], 7);
        EXPECT_EQ(moved[i], 7u);
        EXPECT_EQ(indices[i], 7);
      }
      tested = true;
    }
    EXPECT_EQ(tw_request_waitall(2, requests, nullptr, nullptr), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(content(), rounds(2, 1) + rounds(2, 1));
}

// Close completes all of them: several are found complete at once, each call frees what it must.
TEST_P(Requests, SeveralThatAreCompleteAtOnceAreAllFound) {
  constexpr int kMany = 6;
  for (const int tasks : {1, 3}) {
    for (const bool waits : {false, true}) {
      on_team(tasks, [&](tw_group* group, int task) {
        tw_file* file = open(group);
        ASSERT_NE(file, nullptr);
        const std::string data = text_of(task, kPiece);
        tw_request* requests[2 * kMany] = {};  // every other entry is NULL
        for (int i = 0; i < kMany; ++i) {
          tw_extent extent{const_cast<char*>(data.data()), kPiece - i, (i * tasks + task) * kPiece};
          if (i == 2 && task == 0) extent.offset = -1;  // this one fails
          const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[2 * i + 1]), TW_OK);
        }
        ASSERT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
        int done = 0;
        std::int64_t index = 7, n_done = 7, indices[2 * kMany] = {};
        tw_status statuses[2 * kMany] = {};
        std::size_t moved[2 * kMany] = {};
        const auto any = waits ? tw_request_waitany(2 * kMany, requests, &index, moved)
                               : tw_request_testany(2 * kMany, requests, &done, &index, moved);
        EXPECT_EQ(any, TW_OK) << tw_last_error();
        EXPECT_EQ(index, 1) << "the first one";
        EXPECT_EQ(moved[0], static_cast<std::size_t>(kPiece));
        EXPECT_EQ(requests[1], nullptr);
        const auto some = waits ? tw_request_waitsome(2 * kMany, requests, &n_done, indices, statuses, moved)
                                : tw_request_testsome(2 * kMany, requests, &n_done, indices, statuses, moved);
        EXPECT_EQ(some, TW_ERR_INVALID);
        EXPECT_NE(std::string(tw_last_error()).find("has offset -1"), std::string::npos) << tw_last_error();
        ASSERT_EQ(n_done, kMany - 1);
        for (int i = 0; i < kMany - 1; ++i) {
          EXPECT_EQ(indices[i], 2 * i + 3);
          EXPECT_EQ(requests[indices[i]], nullptr);
          EXPECT_EQ(statuses[i], i == 1 ? TW_ERR_INVALID : TW_OK);
          EXPECT_EQ(moved[i], i == 1 ? 0u : static_cast<std::size_t>(kPiece - i - 1));
        }
        EXPECT_EQ(tw_request_waitsome(2 * kMany, requests, &n_done, indices, statuses, moved), TW_OK);
        EXPECT_EQ(n_done, TW_UNDEFINED);
      });
    }
  }
}

// Threads of one task start and await requests of their own.
TEST_P(Requests, OfSeveralThreadsAreIndependent) {
  constexpr int kThreads = 4, kMany = 20;
  on_file(1, [&](tw_file* file, int) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<std::string> data;
        for (int i = 0; i < kMany; ++i) data.push_back(text_of(t, kPiece, i));
        std::vector<tw_request*> requests(kMany);
        for (int i = 0; i < kMany; ++i) {
          const auto n = static_cast<std::size_t>(i);
          const tw_extent extent{data[n].data(), kPiece, (i * kThreads + t) * kPiece};
          const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
          EXPECT_EQ(tw_file_iaccess(file, &access, &requests[n]), TW_OK) << tw_last_error();
        }
        std::int64_t indices[kMany], index = 0, n_done = 0, left = kMany;
        std::size_t moved[kMany];
        int done = 0;
        while (left > 0) {
          switch ((t + left) % 4) {
            case 0:
              EXPECT_EQ(tw_request_waitsome(kMany, requests.data(), &n_done, indices, nullptr, moved), TW_OK);
              EXPECT_GT(n_done, 0);
              left -= n_done;
              break;
            case 1:
              EXPECT_EQ(tw_request_testsome(kMany, requests.data(), &n_done, indices, nullptr, moved), TW_OK);
              left -= n_done;
              break;
            case 2:
              EXPECT_EQ(tw_request_waitany(kMany, requests.data(), &index, moved), TW_OK);
              --left;
              break;
            default:
              EXPECT_EQ(tw_request_testany(kMany, requests.data(), &done, &index, moved), TW_OK);
              left -= done;
          }
        }
        EXPECT_EQ(tw_request_testall(kMany, requests.data(), &done, nullptr, nullptr), TW_OK);
        EXPECT_EQ(done, 1);
        EXPECT_EQ(std::count(requests.begin(), requests.end(), nullptr), kMany);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(content(), rounds(kThreads, kMany));
}

// A failure is reported by the wait of each task; later requests are unaffected.
TEST_P(Requests, AFailureComesFromTheWaitOfEachTask) {
  on_file(3, [&](tw_file* file, int task) {
    const std::string data = text_of(task, kPiece);
    for (int wrong = 0; wrong < 3; ++wrong) {
      tw_extent extent{const_cast<char*>(data.data()), kPiece, task * kPiece};
      if (task == wrong) extent.length = -5;
      const tw_access bad = at_extents(TW_ACCESS_WRITE, &extent);
      tw_request* requests[2] = {};
      ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &bad, &requests[0]), TW_OK);
      const tw_extent other{const_cast<char*>(data.data()), kPiece, task * kPiece};
      const tw_access good = at_extents(TW_ACCESS_WRITE, &other);
      ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &good, &requests[1]), TW_OK);
      tw_status statuses[2] = {};
      std::size_t moved[2] = {};
      EXPECT_EQ(tw_request_waitall(2, requests, statuses, moved), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("task " + std::to_string(wrong)), std::string::npos);
      EXPECT_EQ(statuses[0], TW_ERR_INVALID);
      EXPECT_EQ(statuses[1], TW_OK);
      EXPECT_EQ(moved[0], 0);
      EXPECT_EQ(moved[1], kPiece);
    }
  });
}

class ProgressThread : public SharedFiles {};

// Also when a test call found and started the request.
TEST_F(ProgressThread, GoesOnWithWhatATestBegan) {
  constexpr int kMany = 1 << 16;
  for (int round = 0; round < 10; ++round) {
    on_file(1, [&](tw_file* file, int task) {
      const std::string data = text_of(task, 2 * kMany, round);
      std::vector<tw_extent> extents;
      for (int i = 0; i < kMany; ++i)
        extents.push_back({const_cast<char*>(&data[static_cast<std::size_t>(2 * i)]), 1, i});
      tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, extents.data(), kMany);
      access.progress = TW_PROGRESS_THREAD;
      tw_request* request = nullptr;
      ASSERT_EQ(tw_file_iaccess(file, &access, &request), TW_OK) << tw_last_error();
      int done = 0;
      ASSERT_EQ(tw_request_test(&request, &done, nullptr), TW_OK);
      const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (std::filesystem::file_size(path()) < kMany && std::chrono::steady_clock::now() < late)
        std::this_thread::yield();
      EXPECT_EQ(std::filesystem::file_size(path()), static_cast<std::uintmax_t>(kMany)) << "nobody went on with it";
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    });
  }
}

// Close completes outstanding accesses, collective or not; the request handles stay valid.
TEST_P(Requests, CloseEndsThem) {
  for (const int tasks : {1, 2, 3}) {
    on_team(tasks, [&](tw_group* group, int task) {
      tw_file* file = open(group);
      ASSERT_NE(file, nullptr);
      std::vector<std::string> data;
      for (int i = 0; i < 30; ++i) data.push_back(text_of(task, kPiece, i));
      tw_request* requests[30] = {};
      for (int i = 0; i < 30; ++i) {
        const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, (i * tasks + task) * kPiece};
        const tw_access access = at_extents(TW_ACCESS_WRITE, &extent);
        ASSERT_EQ(i % 2 == 0 ? tw_file_iaccess(file, &access, &requests[i])
                             : tw_file_iaccess_all(file, nullptr, &access, &requests[i]),
                  TW_OK);
      }
      ASSERT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
      EXPECT_EQ(content(), rounds(tasks, 30)) << tasks;
      EXPECT_EQ(tw_request_waitall(30, requests, nullptr, nullptr), TW_OK) << tw_last_error();
    });
  }
}

// Several files at once, each with its own requests.
TEST_P(Requests, OfSeveralFilesDoNotMix) {
  on_team(3, [&](tw_group* group, int task) {
    tw_file* files[4] = {};
    tw_request* requests[4][10] = {};
    std::vector<std::string> data;
    for (int i = 0; i < 10; ++i) data.push_back(text_of(task, kPiece, i));
    for (int f = 0; f < 4; ++f)
      ASSERT_EQ(tw_file_open(group, path(std::to_string(f)).c_str(), kNew, nullptr, &files[f]), TW_OK);
    for (int i = 0; i < 10; ++i) {
      for (int f = 0; f < 4; ++f) {
        const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, 0};
        const tw_access access = in_order(TW_ACCESS_WRITE, &extent);
        ASSERT_EQ(tw_file_iaccess_all(files[f], nullptr, &access, &requests[f][i]), TW_OK);
      }
    }
    for (int f = 3; f >= 0; --f) EXPECT_EQ(tw_request_waitall(10, requests[f], nullptr, nullptr), TW_OK);
    for (int f = 0; f < 4; ++f) EXPECT_EQ(tw_file_close(&files[f]), TW_OK);
  });
  for (int f = 0; f < 4; ++f) EXPECT_EQ(content(std::to_string(f)), rounds(3, 10));
}

std::string mode_name(const testing::TestParamInfo<tw_progress>& info) {
  const char* const names[] = {"Default", "Thread", "Poll", "Kernel"};
  return names[info.param];
}
INSTANTIATE_TEST_SUITE_P(Modes, Requests, testing::Values(TW_PROGRESS_DEFAULT, TW_PROGRESS_THREAD, TW_PROGRESS_POLL),
                         mode_name);

}  // namespace
}  // namespace thalweg::test
