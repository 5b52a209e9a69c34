// Tasks that make different collective calls on one open file at once: all calls fail, none waits, and no later call
// waits for a task that has closed.
#include "support/groups/out_of_step.hpp"

#include <atomic>
#include <thread>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

using FileBody = std::function<void(tw_file*, int)>;

class OutOfStep : public SharedFiles {
 protected:
  void refuse_on_processes(int processes, int threads) {
    refuse_all_pairs(processes * threads, calls_on_file(), [&](const FileBody& body) {
      on_processes(processes, threads, [&](tw_group* group, int task) { body(open(group), task); });
    });
  }
};

TEST_F(OutOfStep, CallsOfThreadsAreRefused) {
  for (const int tasks : {2, 3, 5}) {
    refuse_all_pairs(tasks, calls_on_file(), [&](const FileBody& body) {
      on_team(tasks, [&](tw_group* group, int task) { body(open(group), task); });
    });
  }
}

TEST_F(OutOfStep, CallsOfProcessesAreRefused) {
  for (const int tasks : {2, 3, 5}) refuse_on_processes(tasks, 1);
}

TEST_F(OutOfStep, CallsOfThreadsOfProcessesAreRefused) {
  refuse_on_processes(2, 2);
  refuse_on_processes(3, 3);
}

// Requests that all tasks have started are completed, also by a task that has closed.
TEST_F(OutOfStep, RequestsUnderWayAreCompleted) {
  on_processes(3, 1, [&](tw_group* group, int task) {
    tw_file* file = open(group);
    const std::string mine = text_of(task, 1000);
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iwrite_at_all(file, mine.data(), 1000, task * 1000, &request), TW_OK);
    EXPECT_EQ(task == 1 ? tw_file_close(&file) : tw_file_sync(file), TW_ERR_INVALID);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    if (task != 1) {
      EXPECT_EQ(tw_file_close(&file), TW_ERR_INVALID);
    }
  });
  EXPECT_EQ(content(), text_of(0, 1000) + text_of(1, 1000) + text_of(2, 1000));
}

// Each task waits in the team of a different handle; no team is complete.
TEST_F(OutOfStep, CallsOnDifferentHandlesAreRefused) {
  for (const int tasks : {2, 5}) {
    on_team(tasks, [&](tw_group* group, int task) {
      tw_file* file = open(group);
      EXPECT_EQ(task == 0 ? tw_file_write_at_all(file, "abc", 3, 0) : tw_group_barrier(group), TW_ERR_INVALID);
      expect_said("task 0 is in tw_file_write_at_all, task 1 is in tw_group_barrier");
      EXPECT_EQ(tw_group_barrier(group), TW_ERR_INVALID);
      expect_said("task 0 was in tw_file_write_at_all while task 1 was in tw_group_barrier");
      requests_fail_at_once(file);
      EXPECT_EQ(tw_file_close(&file), TW_ERR_INVALID);
    });
  }
}

TEST_F(OutOfStep, CallsOnMultifilesVpfilesAndOpensBesideABarrierAreRefused) {
  constexpr int kTasks = 3;
  const std::int64_t vps[] = {kTasks};
  const auto open_many = [&](tw_group* group) {
    tw_multifile* many = nullptr;
    EXPECT_EQ(tw_multifile_open(group, path("m.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &many), TW_OK);
    return many;
  };
  const auto open_streams = [&](tw_group* group) {
    tw_vpfile* streams = nullptr;
    EXPECT_EQ(tw_vpfile_open(group, path("v.vp").c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, vps), &streams),
              TW_OK);
    return streams;
  };
  for (const int odd : {0, 2}) {
    on_team(kTasks, [&](tw_group* group, int task) {
      tw_multifile* many = open_many(group);
      EXPECT_EQ(task == odd ? tw_multifile_close(&many) : tw_group_barrier(group), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("tw_multifile_close"), std::string::npos) << tw_last_error();
      if (task != odd) {
        EXPECT_EQ(tw_multifile_close(&many), TW_ERR_INVALID);
      }
    });
    on_team(kTasks, [&](tw_group* group, int task) {
      tw_vpfile* streams = open_streams(group);
      EXPECT_EQ(task == odd ? tw_vpfile_flush_all(streams) : tw_group_barrier(group), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("tw_vpfile_flush_all"), std::string::npos) << tw_last_error();
      EXPECT_EQ(tw_vpfile_close(&streams), TW_ERR_INVALID);
    });
    on_team(kTasks, [&](tw_group* group, int task) {
      tw_multifile* many = nullptr;
      EXPECT_EQ(task == odd ? tw_multifile_open(group, path("m.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &many)
                            : tw_group_barrier(group),
                TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("tw_multifile_open"), std::string::npos) << tw_last_error();
      EXPECT_EQ(many, nullptr);
    });
  }
}

TEST_F(OutOfStep, TheSameCallOnDifferentFilesIsRefused) {
  on_team(3, [&](tw_group* group, int task) {
    tw_file* one = open(group);
    tw_file* other = open(group);
    EXPECT_EQ(tw_file_sync(task == 2 ? other : one), TW_ERR_INVALID);
    expect_said("on different handles at once: task 0 is in tw_file_sync, task 2 is in tw_file_sync");
    EXPECT_EQ(tw_file_close(&one), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_close(&other), TW_ERR_INVALID);
  });
}

// Another thread of the task may still come: each task has one thread for the group and one for the file.
TEST_F(OutOfStep, ThreadsOfOneTaskUseItsHandlesAtOnce) {
  constexpr int kTasks = 2;
  std::atomic<int> opened{0};
  on_team(kTasks, [&](tw_group* group, int task) {
    tw_file* file = open(group);
    std::thread writer([&] {
      EXPECT_EQ(tw_file_write_at_all(file, "abc", 3, task * 3), TW_OK) << tw_last_error();
      opened.fetch_add(1);
    });
    if (task == 0) {
      while (opened.load() < 1) std::this_thread::yield();  // it enters the barrier after the file is written
    }
    EXPECT_EQ(tw_group_barrier(group), TW_OK) << tw_last_error();
    writer.join();
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(content(), "abcabc");
}

// The failure concerns the file: its group can open another one.
TEST_F(OutOfStep, TheGroupGoesOn) {
  on_team(3, [&](tw_group* group, int task) {
    tw_file* file = open(group);
    EXPECT_EQ(task == 2 ? tw_file_close(&file) : tw_file_sync(file), TW_ERR_INVALID);
    if (task != 2) {
      EXPECT_EQ(tw_file_close(&file), TW_ERR_INVALID);
    }
    file = open(group);
    EXPECT_EQ(tw_file_write_at_all(file, "abc", 3, task * 3), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(content(), "abcabcabc");
}

}  // namespace
}  // namespace thalweg::test
