// The progress thread: one per process, asleep while nothing is outstanding, bound as requested; and programs that
// forget requests or exit with outstanding ones.
//
// Each test runs in a new process, as the library reads its environment once.
#include <sched.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/engine/told_transfers.hpp"
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 1000;

// Lines of /proc/self/task/*/status, one per thread with that name.
std::vector<std::string> lines_of_progress_threads(const std::string& field) {
  std::vector<std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "status");
    std::string line;
    bool ours = false;
    while (std::getline(in, line)) {
      if (line.starts_with("Name:")) ours = line.ends_with("\ttw-progress");
      if (ours && line.starts_with(field + ":")) found.push_back(line.substr(field.size() + 2));
    }
  }
  return found;
}

int last_usable_core() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  int last = -1;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) last = core;
  return last;
}

class ProgressThreadAlone : public SharedFiles {
 protected:
  ProgressThreadAlone() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static tw_access write_of(const tw_extent& extent, tw_progress progress) {
    tw_access access{};
    access.struct_size = sizeof access;
    access.direction = TW_ACCESS_WRITE;
    access.progress = progress;
    access.extents = &extent;
    access.n = 1;
    return access;
  }
  // Threads with their files, and requests in every mode.
  void make_requests(int rounds, tw_progress progress) {
    on_file(3, [&](tw_file* file, int task) {
      for (int i = 0; i < rounds; ++i) {
        const std::string data = text_of(task, kPiece, i);
        const tw_extent extent{const_cast<char*>(data.data()), kPiece, (i * 3 + task) * kPiece};
        const tw_access access = write_of(extent, progress);
        tw_request* requests[2] = {};
        ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[0]), TW_OK) << tw_last_error();
        ASSERT_EQ(tw_file_iaccess(file, &access, &requests[1]), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_request_waitall(2, requests, nullptr, nullptr), TW_OK) << tw_last_error();
      }
    });
    if (progress == TW_PROGRESS_THREAD) see_it_sleep();
  }
  // A wait may return before the new thread has started; after its first sleep its setup is complete.
  static void see_it_sleep() {
    for (int i = 0; i < 10'000; ++i) {
      const auto sleeps = lines_of_progress_threads("voluntary_ctxt_switches");
      if (!sleeps.empty() && std::stol(sleeps[0]) > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Reports the result of the child process: 0 on success.
  static void leave(const char* wrong = nullptr) {
    if (wrong != nullptr) std::fprintf(stderr, "%s\n", wrong);
    ::_exit(wrong != nullptr || testing::Test::HasFailure() ? 1 : 0);
  }
};

TEST_F(ProgressThreadAlone, ThereIsOneForAllFilesAndThreads) {
  const auto body = [&] {
    if (!lines_of_progress_threads("Name").empty()) leave("there is one before anything was started");
    for (int i = 0; i < 5; ++i) make_requests(10, TW_PROGRESS_THREAD);
    leave(lines_of_progress_threads("Name").size() == 1 ? nullptr : "not one thread");
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(ProgressThreadAlone, ThereIsNoneForPolledRequests) {
  const auto body = [&] {
    make_requests(10, TW_PROGRESS_POLL);
    tw_progress mode = TW_PROGRESS_DEFAULT;
    EXPECT_EQ(tw_file_progress(nullptr, TW_PROGRESS_POLL, &mode), TW_OK);
    EXPECT_EQ(mode, TW_PROGRESS_POLL);
    leave(lines_of_progress_threads("Name").empty() ? nullptr : "there is a thread");
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// A thread that woke up periodically would have a hundred context switches or more meanwhile.
TEST_F(ProgressThreadAlone, ItSleepsWhileNothingIsOutstanding) {
  const auto switches = [] {
    const auto found = lines_of_progress_threads("voluntary_ctxt_switches");
    if (found.size() != 1) leave("not one thread");
    return std::stol(found[0]);
  };
  const auto body = [&] {
    make_requests(10, TW_PROGRESS_THREAD);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const long before = switches();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    leave(switches() - before <= 3 ? nullptr : "it does not sleep");
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(ProgressThreadAlone, RunsOnTheCoreOfTheEnvironment) {
  const std::string core = std::to_string(last_usable_core());
  const auto body = [&] {
    ::setenv("THALWEG_PROGRESS_CORE", core.c_str(), 1);
    make_requests(1, TW_PROGRESS_THREAD);
    const auto found = lines_of_progress_threads("Cpus_allowed_list");
    leave(found.size() == 1 && found[0] == core ? nullptr : "it is not bound");
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(ProgressThreadAlone, ABadCoreIsToldAndLeftAside) {
  for (const char* core : {"banana", "-1", "100000", "1023", "0,1", "0x1"}) {
    const auto body = [&] {
      ::setenv("THALWEG_PROGRESS_CORE", core, 1);
      const int usable = last_usable_core();
      make_requests(1, TW_PROGRESS_THREAD);
      const auto found = lines_of_progress_threads("Cpus_allowed_list");
      const bool bound = found.size() == 1 && found[0] == core;
      leave(!bound && usable == last_usable_core() ? nullptr : "it is bound");
    };
    EXPECT_EXIT(body(), testing::ExitedWithCode(0),
                std::string("THALWEG_PROGRESS_CORE='") + core + "' is not the number of a core");
  }
}

TEST_F(ProgressThreadAlone, ABadModeIsToldAndTakenForThread) {
  const auto body = [&] {
    ::setenv("THALWEG_PROGRESS", "thred", 1);
    tw_progress mode = TW_PROGRESS_DEFAULT;
    EXPECT_EQ(tw_file_progress(nullptr, TW_PROGRESS_DEFAULT, &mode), TW_OK);
    leave(mode == TW_PROGRESS_THREAD ? nullptr : "it is another mode");
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "THALWEG_PROGRESS='thred' is neither thread nor poll");
}

TEST_F(ProgressThreadAlone, TheEffectiveModeIsTold) {
  const auto body = [&] {
    ::setenv("THALWEG_URING", "0", 1);
    ::setenv("THALWEG_PROGRESS", "poll", 1);
    on_file(1, [&](tw_file* file, int) {
      tw_progress mode = TW_PROGRESS_DEFAULT;
      EXPECT_EQ(tw_file_progress(file, TW_PROGRESS_DEFAULT, &mode), TW_OK);
      EXPECT_EQ(mode, TW_PROGRESS_POLL);
      EXPECT_EQ(tw_file_progress(file, TW_PROGRESS_THREAD, &mode), TW_OK);
      EXPECT_EQ(mode, TW_PROGRESS_THREAD);
      EXPECT_EQ(tw_file_progress(file, TW_PROGRESS_POLL + 1, &mode), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_progress(file, -1, &mode), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_progress(file, TW_PROGRESS_THREAD, nullptr), TW_ERR_INVALID);
    });
    leave();
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// Requests without a wait: closing the file completes them.
TEST_F(ProgressThreadAlone, ForgottenRequestsAreCompletedByClosing) {
  constexpr int kMany = 30;
  static tw_request* forgotten[3][3 * kMany];  // reachable, so that no leak is reported
  std::string expected;
  for (int i = 0; i < 3 * kMany; ++i)
    for (int task = 0; task < 3; ++task) expected += text_of(task, kPiece, i);
  std::vector<std::vector<std::string>> data(3);
  on_file(3, [&](tw_file* file, int task) {
    auto& mine = data[static_cast<std::size_t>(task)];
    for (int i = 0; i < 3 * kMany; ++i) mine.push_back(text_of(task, kPiece, i));
    for (int i = 0; i < 3 * kMany; ++i) {
      const tw_extent extent{mine[static_cast<std::size_t>(i)].data(), kPiece, (i * 3 + task) * kPiece};
      const tw_access access = write_of(extent, static_cast<tw_progress>(TW_PROGRESS_THREAD + i % 2));
      ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &forgotten[task][i]), TW_OK) << tw_last_error();
    }
  });

  EXPECT_TRUE(content() == expected);
}

// Requests that no other task has started, or large ones during their transfer: the program can exit.
TEST_F(ProgressThreadAlone, AProgramMayEndWithRequestsOutstanding) {
  const auto body = [&](tw_progress progress) {
    constexpr std::int64_t kLarge = 64 << 20;
    // Outlives main() without being a leak.
    static auto* const data = new std::vector<char>(static_cast<std::size_t>(kLarge), 'x');
    static tw_request* requests[8];
    static tw_group *self = nullptr, *one_of_two = nullptr;
    static tw_team* team = nullptr;
    EXPECT_EQ(tw_group_self(&self), TW_OK);
    static tw_file* const file = open(self);
    EXPECT_EQ(tw_team_create(2, &team), TW_OK);
    EXPECT_EQ(tw_group_team(team, 0, &one_of_two), TW_OK);
    for (int i = 0; i < 8; ++i) {
      const tw_extent extent{data->data(), kLarge, 0};
      const tw_access access = write_of(extent, progress);
      tw_group* const group = i == 7 ? one_of_two : nullptr;
      EXPECT_EQ(tw_file_iaccess_all(file, group, &access, &requests[i]), TW_OK) << tw_last_error();
    }
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  for (const tw_progress progress : {TW_PROGRESS_THREAD, TW_PROGRESS_POLL})
    EXPECT_EXIT(body(progress), testing::ExitedWithCode(0), "") << progress;
}

// The thread that made the transfers while another one tested for completion.
std::atomic<int> transfers_by_tester{0};
std::atomic<int> transfers_by_others{0};
std::thread::id tester;

ssize_t told(ssize_t really) {
  ++(std::this_thread::get_id() == tester ? transfers_by_tester : transfers_by_others);
  return really;
}

TEST_F(ProgressThreadAlone, MovesWhatAProgramOnlyTestsFor) {
  tester = std::this_thread::get_id();
  const ToldTransfers transfers(told);
  tw_group* self = nullptr;
  ASSERT_EQ(tw_group_self(&self), TW_OK);
  tw_file* file = open(self);
  for (int i = 0; i < 50; ++i) {
    const std::string data = text_of(0, kPiece, i);
    const tw_extent extent{const_cast<char*>(data.data()), kPiece, i * kPiece};
    const tw_access access = write_of(extent, TW_PROGRESS_THREAD);
    tw_request* request = nullptr;
    ASSERT_EQ(tw_file_iaccess(file, &access, &request), TW_OK) << tw_last_error();
    int done = 0;
    while (done == 0) ASSERT_EQ(tw_request_test(&request, &done, nullptr), TW_OK) << tw_last_error();
  }
  EXPECT_GT(transfers_by_tester + transfers_by_others, 0);
  EXPECT_EQ(transfers_by_tester, 0) << "a test is no place for a transfer";
  EXPECT_EQ(tw_file_close(&file), TW_OK);
  tw_group_free(&self);
}

}  // namespace
}  // namespace thalweg::test
