// Opening, closing and operations on the whole file.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

class Opening : public SharedFiles {
 protected:
  tw_status status_of(tw_group* group, int flags, const tw_options* options = nullptr) const {
    tw_file* file = nullptr;
    const tw_status status = tw_file_open(group, path().c_str(), flags, options, &file);
    EXPECT_EQ(file != nullptr, status == TW_OK);
    if (file != nullptr) {
      EXPECT_EQ(tw_file_close(&file), TW_OK);
    }
    return status;
  }
};

TEST_F(Opening, FollowsItsFlags) {
  for (const int tasks : {1, 3}) {
    std::filesystem::remove(path());
    on_team(tasks, [&](tw_group* group, int) {
      EXPECT_EQ(status_of(group, TW_READ), TW_ERR_NOT_FOUND);
      EXPECT_EQ(status_of(group, TW_WRITE), TW_ERR_NOT_FOUND);
      EXPECT_EQ(status_of(group, TW_WRITE | TW_CREATE | TW_EXCLUSIVE), TW_OK) << tw_last_error();
      EXPECT_EQ(status_of(group, TW_WRITE | TW_CREATE | TW_EXCLUSIVE), TW_ERR_EXISTS);
      EXPECT_EQ(status_of(group, TW_WRITE | TW_CREATE), TW_OK);
      EXPECT_EQ(status_of(group, 0), TW_ERR_INVALID);
      EXPECT_EQ(status_of(group, TW_CREATE), TW_OK) << "writing is implied";
      EXPECT_EQ(status_of(group, TW_READ | TW_RECOVER), TW_ERR_INVALID);
      EXPECT_EQ(status_of(group, TW_WRITE | TW_EXCLUSIVE), TW_ERR_INVALID);
      EXPECT_EQ(status_of(group, TW_READ | 1024), TW_ERR_INVALID);
    });
  }
}

TEST_F(Opening, TellsAllTasksWhatOneHasWrong) {
  put("old");
  on_team(3, [&](tw_group* group, int task) {
    for (int who = 0; who < 3; ++who) {
      tw_file* file = nullptr;
      const bool wrong = task == who;
      OpenWith shaped;
      shaped.shape({4});
      EXPECT_EQ(tw_file_open(group, wrong ? nullptr : path().c_str(), TW_READ, nullptr, &file), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("path is NULL"), std::string::npos) << tw_last_error();
      EXPECT_EQ(tw_file_open(group, wrong ? "" : path().c_str(), TW_READ, nullptr, &file), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_open(group, wrong ? "elsewhere" : path().c_str(), TW_READ, nullptr, &file), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_open(group, path().c_str(), wrong ? TW_READ | TW_WRITE : TW_READ, nullptr, &file),
                TW_ERR_INVALID);
      EXPECT_EQ(tw_file_open(group, path().c_str(), wrong ? -1 : TW_READ + 0, nullptr, &file), TW_ERR_INVALID);
      const tw_options* options = wrong ? static_cast<const tw_options*>(shaped) : nullptr;
      EXPECT_EQ(tw_file_open(group, path().c_str(), TW_READ, options, &file), TW_ERR_INVALID) << "a shape";
      EXPECT_EQ(tw_file_open(group, path().c_str(), TW_READ, nullptr, wrong ? nullptr : &file), TW_ERR_INVALID);
      EXPECT_EQ(file, nullptr);
    }
  });
  EXPECT_EQ(tw_file_open(nullptr, path().c_str(), TW_READ, nullptr, nullptr), TW_ERR_INVALID);
}

TEST_F(Opening, WithoutAGroupIsByThisTaskAlone) {
  tw_file* file = nullptr;
  ASSERT_EQ(tw_file_open(nullptr, path().c_str(), kNew, nullptr, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_write_all(file, "alone", 5), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_close(&file), TW_OK);
  EXPECT_EQ(content(), "alone");
}

TEST_F(Opening, TakesTheOptionsOfTask0) {
  on_team(3, [&](tw_group* group, int task) {
    const char* const bad[] = {"sieve", "no_such=1", "workers=0", "io=sometimes", "staging_bytes=1", "method"};
    for (const char* hints : bad) {
      const tw_status status = status_of(group, kNew, OpenWith().hints(task == 0 ? hints : "method=naive"));
      EXPECT_TRUE(status == TW_ERR_UNKNOWN_HINT || status == TW_ERR_INVALID) << hints << ": " << status;
    }
    const char* const good = "workers=2,,method=shared,";
    const tw_status status = status_of(group, kNew, OpenWith().permissions(0600).hints(task == 0 ? good : "no_such=1"));
    EXPECT_EQ(status, TW_OK) << tw_last_error();
  });
  struct stat about {};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(Opening, WithoutPermissionFailsOnAllTasks) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  put("secret");
  ::chmod(path().c_str(), 0200);
  on_team(2, [&](tw_group* group, int) {
    EXPECT_EQ(status_of(group, TW_READ), TW_ERR_PERMISSION);
    EXPECT_EQ(status_of(group, TW_READ | TW_WRITE), TW_ERR_PERMISSION);
    EXPECT_EQ(status_of(group, TW_WRITE), TW_OK) << tw_last_error();
  });
}

TEST_F(Opening, AppendsBehindWhatIsThere) {
  put("0123456789");
  on_file(
      3,
      [](tw_file* file, int task) {
        const std::string data = text_of(task, 5);
        EXPECT_EQ(tw_file_write_all(file, data.data(), 5), TW_OK) << tw_last_error();
        std::int64_t position = 0;
        EXPECT_EQ(tw_file_seek(file, 0, SEEK_CUR, &position), TW_OK);
        EXPECT_EQ(position, 25);
        EXPECT_EQ(tw_file_seek(file, -25, SEEK_END, &position), TW_OK);
        EXPECT_EQ(position, 0);
      },
      TW_WRITE | TW_APPEND);
  EXPECT_EQ(content(), "0123456789" + text_of(0, 5) + text_of(1, 5) + text_of(2, 5));
}

TEST_F(Opening, ForOneDirectionAllowsThatOneOnly) {
  put("0123456789");
  const auto try_both = [&](int flags) {
    on_file(
        3,
        [&](tw_file* file, int) {
          char data[4] = {};
          const bool reads = flags == TW_READ;
          EXPECT_EQ(tw_file_read_at_all(file, data, 1, 0, nullptr), reads ? TW_OK : TW_ERR_MODE);
          EXPECT_EQ(tw_file_read_at(file, data, 1, 0, nullptr), reads ? TW_OK : TW_ERR_MODE);
          EXPECT_EQ(tw_file_write_at_all(file, "x", 1, 0), reads ? TW_ERR_MODE : TW_OK);
          EXPECT_EQ(tw_file_write_at(file, "x", 1, 0), reads ? TW_ERR_MODE : TW_OK);
          EXPECT_EQ(tw_file_truncate(file, 10), reads ? TW_ERR_MODE : TW_OK);
          EXPECT_EQ(tw_file_preallocate(file, 10, 0), reads ? TW_ERR_MODE : TW_OK);
          EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
          EXPECT_EQ(tw_file_write_all(file, nullptr, 0), reads ? TW_ERR_MODE : TW_OK) << "nothing, but it is wrong";
        },
        flags);
  };

  try_both(TW_READ);
  try_both(TW_WRITE);
}

TEST_F(Opening, TruncatesReservesAndSyncs) {
  on_file(3, [](tw_file* file, int) {
    std::int64_t size = -1;
    EXPECT_EQ(tw_file_truncate(file, 5000), TW_OK);
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, 5000);
    EXPECT_EQ(tw_file_preallocate(file, 3000, 4000), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, 7000);
    EXPECT_EQ(tw_file_preallocate(file, 0, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_truncate(file, 0), TW_OK);
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, 0);
    EXPECT_EQ(tw_file_sync(file), TW_OK);
  });
  EXPECT_EQ(content(), "");
}

// Task 0 makes the call long before task 1, which extends the file first.
TEST_F(Opening, TheSizeCountsWhatEachTaskWroteBeforeItsCall) {
  on_file(2, [](tw_file* file, int task) {
    if (task == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(tw_file_write_at(file, "x", 1, 99), TW_OK) << tw_last_error();
    }
    std::int64_t size = -1;
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, 100);
  });
}

// A removed file stays usable until it is closed, as with open(2).
TEST_F(Opening, AFileRemovedMeanwhileStaysUsable) {
  for (const char* hints : {"", "io=direct"}) {
    on_file(
        3,
        [&](tw_file* file, int task) {
          std::string data = text_of(task, 70000);
          EXPECT_EQ(tw_file_write_all(file, data.data(), 70000), TW_OK) << tw_last_error();
          if (task == 1) std::filesystem::remove(path());
          EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
          std::string back(70000, '#');
          EXPECT_EQ(tw_file_seek(file, 0, SEEK_SET, nullptr), TW_OK);
          EXPECT_EQ(tw_file_read_all(file, back.data(), 70000, nullptr), TW_OK) << tw_last_error();
          EXPECT_TRUE(back == data);
          EXPECT_EQ(tw_file_write_at_all(file, data.data(), 100, 300000 + task * 100), TW_OK) << tw_last_error();
          std::int64_t size = 0;
          EXPECT_EQ(tw_file_size(file, &size), TW_OK);
          EXPECT_EQ(size, 300300);
        },
        kNew, hints);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

// Two handles write concurrently into each other's holes without a common lock.
TEST_F(Opening, TwoHandlesOfOneFileDoNotUndoEachOthersBytes) {
  constexpr int kMany = 20'000;
  on_threads(2, [&](std::int64_t task) {
    tw_group* alone = nullptr;
    tw_file* file = nullptr;
    ASSERT_EQ(tw_group_self(&alone), TW_OK);
    ASSERT_EQ(tw_file_open(alone, path().c_str(), kNew & ~TW_TRUNCATE, nullptr, &file), TW_OK) << tw_last_error();
    std::string data(64 * kMany, static_cast<char>('a' + task));
    std::vector<tw_extent> records;
    for (int i = 0; i < kMany; ++i)
      records.push_back({&data[static_cast<std::size_t>(64 * i)], 64, (2 * i + task) * 64});
    EXPECT_EQ(write_list_all(file, records.data(), kMany), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    tw_group_free(&alone);
  });
  const std::string bytes = content();
  ASSERT_EQ(bytes.size(), 2u * 64 * kMany);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], i / 64 % 2 == 0 ? 'a' : 'b') << "byte " << i;
}

TEST_F(Opening, ThePlanOfTheLastCollectiveAccessIsTold) {
  on_file(
      2,
      [](tw_file* file, int task) {
        EXPECT_STREQ(tw_file_last_plan(file), "");
        std::string data(64 * 40, 'x');
        std::vector<tw_extent> tiny;
        for (int i = 0; i < 40; ++i) tiny.push_back({data.data() + 64 * i, 40, (2 * i + task) * 64});
        EXPECT_EQ(write_list_all(file, tiny.data(), 40), TW_OK) << tw_last_error();
        const std::string plan = tw_file_last_plan(file);
        EXPECT_NE(plan.find("sieved"), std::string::npos) << "small holes, though open for writing only: " << plan;
        EXPECT_NE(plan.find("interleaved: 2 tasks, 80 runs"), std::string::npos) << plan;
        EXPECT_EQ(tw_file_write_at(file, data.data(), 1, 0), TW_OK);
        EXPECT_EQ(tw_file_last_plan(file), plan) << "an independent access is not collective";
        EXPECT_EQ(tw_file_write_all(file, nullptr, 0), TW_OK);
        EXPECT_EQ(std::string(tw_file_last_plan(file)).find("nothing"), 0u) << tw_file_last_plan(file);
      },
      TW_WRITE | TW_CREATE, "method=shared,sieve_writes=on");
}

}  // namespace
}  // namespace thalweg::test
