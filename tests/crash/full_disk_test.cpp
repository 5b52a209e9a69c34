// A full disk (a small tmpfs): each collective returns one status on all tasks, none hangs, and flushed data stays
// readable.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "support/crash/crash_check.hpp"
#include "support/crash/process_small_disk.hpp"
#include "support/groups/run_on.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr int kTasks = 4, kFilesOfTask = 2, kAddsOfTask = 2000, kDiskMebibytes = 4;
constexpr unsigned kWatchdogSeconds = 120;

struct Setting {
  const char* name;
  std::vector<std::string> hints;
  bool adds = false;  // the tasks add logical files by names
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class FullDisk : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (!disk_.refused().empty()) GTEST_SKIP() << disk_.refused();
    ::alarm(kWatchdogSeconds);
  }
  void TearDown() override { ::alarm(0); }

  tw_status open(tw_group* group, int task, int mode, tw_multifile** file) const {
    tw_options* config = nullptr;
    EXPECT_EQ(tw_options_create(&config), TW_OK);
    EXPECT_EQ(tw_options_set_range(config, kTasks * kFilesOfTask, task * kFilesOfTask, kFilesOfTask), TW_OK);
    for (const std::string& hint : GetParam().hints) {
      const std::size_t equals = hint.find('=');
      EXPECT_EQ(tw_options_set_hint(config, hint.substr(0, equals).c_str(), hint.c_str() + equals + 1), TW_OK);
    }
    const tw_status status = tw_multifile_open(group, path_.c_str(), mode, config, file);
    tw_options_free(&config);
    return status;
  }

  // Runs `body` on the threads of a team, with its group and number.
  static void on_team(const std::function<void(tw_group*, int)>& body) {
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(kTasks, &team), TW_OK);
    on_threads(kTasks, [&](std::int64_t task) {
      tw_group* group = nullptr;
      EXPECT_EQ(tw_group_team(team, task, &group), TW_OK);
      body(group, static_cast<int>(task));
      tw_group_free(&group);
    });
    tw_team_free(&team);
  }

  // First the numbered logical files of all tasks, then those that each task adds.
  History& history_of(int number) { return histories_[static_cast<std::size_t>(number)]; }
  static int first_added(int task) { return kTasks * kFilesOfTask + task * kAddsOfTask; }

  tw_status write(tw_multifile* file, int rank, std::uint64_t bytes) {
    EXPECT_EQ(tw_multifile_seek_to(file, rank, static_cast<std::int64_t>(history_of(rank).size())), TW_OK);
    return write_current(file, rank, bytes);
  }
  tw_status write_current(tw_multifile* file, int number, std::uint64_t bytes) {
    History& history = history_of(number);
    const std::uint64_t version = history.begin(history.size(), bytes);
    const auto data = written_bytes(static_cast<std::uint64_t>(number), history.writes.back(), version);
    const tw_status status = tw_multifile_write(file, data.data(), data.size());
    history.writes.back().failed = status != TW_OK;
    return status;
  }
  tw_status add(tw_multifile* file, int number, std::uint64_t bytes) {
    const std::string name = "added/" + std::to_string(number);
    const tw_status status = tw_multifile_add(file, name.c_str(), 0100600);
    if (status != TW_OK) return status;
    history_of(number).name = name;
    return write_current(file, number, bytes);
  }

  tw_status flush(tw_multifile* file, int task) {
    const tw_status status = tw_multifile_flush(file);
    const auto note = [&](int begin, int end) {
      for (int i = begin; i < end; ++i) history_of(i).flushed = history_of(i).writes.size();
    };
    if (status != TW_OK) return status;
    note(task * kFilesOfTask, (task + 1) * kFilesOfTask);
    note(first_added(task), first_added(task + 1));
    return status;
  }

  // Writes small and large records until a call fails; returns its status.
  tw_status write_until_full(tw_multifile* file, int task) {
    std::mt19937_64 random(static_cast<std::uint64_t>(task));
    tw_status status = TW_OK;
    int next = first_added(task);
    for (int i = 0; status == TW_OK && i < 5000; ++i) {
      const int rank = task * kFilesOfTask + static_cast<int>(random() % kFilesOfTask);
      const std::uint64_t bytes = 1 + random() % (random() % 3 == 0 ? 40'000 : 700);
      const bool adds = GetParam().adds && next < first_added(task + 1) && random() % 2 == 0;
      status = random() % 5 == 0 ? flush(file, task) : adds ? add(file, next++, bytes) : write(file, rank, bytes);
    }
    return status;
  }

  void write_and_close(tw_group* group, int task) {
    tw_multifile* file = nullptr;
    ASSERT_EQ(open(group, task, TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
    for (int i = 0; i < kFilesOfTask; ++i) EXPECT_EQ(write(file, task * kFilesOfTask + i, 3000), TW_OK);
    EXPECT_EQ(flush(file, task), TW_OK);
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  }

  Aftermath aftermath(bool was_closed = false) const {
    return {posix_backend(), path_, histories_, Death::process, was_closed};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(disk_.folder()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  SmallDisk disk_{kDiskMebibytes};
  const std::string path_ = disk_.path("run.tw");
  std::vector<History> histories_ = std::vector<History>(static_cast<std::size_t>(first_added(kTasks)));
};

TEST_P(FullDisk, ATeamWritesUntilNothingFits) {
  ASSERT_TRUE(disk_.reserve(1024));
  on_team([&](tw_group* group, int task) {
    tw_multifile* file = nullptr;
    ASSERT_EQ(open(group, task, TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
    EXPECT_EQ(write_until_full(file, task), TW_ERR_NO_SPACE) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NO_SPACE) << tw_last_error();
  });

  ASSERT_TRUE(anything_durable(aftermath()));
  EXPECT_EQ(check_content(aftermath(), true, Demand::durable_is_there), "") << "read while the disk was full";
  disk_.free_ballast();
  EXPECT_EQ(check_aftermath(aftermath()), "");
}

// One task gets the error from its own calls, the others, which have space, from the close.
TEST_P(FullDisk, ACloseTellsAllTasksOfTheTroubleOfOne) {
  on_team([&](tw_group* group, int task) {
    tw_multifile* file = nullptr;
    ASSERT_EQ(open(group, task, TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
    EXPECT_EQ(write(file, task * kFilesOfTask, 5000), TW_OK) << tw_last_error();
    EXPECT_EQ(flush(file, task), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    if (task == kTasks - 1) {
      EXPECT_EQ(write_until_full(file, task), TW_ERR_NO_SPACE) << tw_last_error();
    }
    EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NO_SPACE) << tw_last_error();
  });

  EXPECT_EQ(check_content(aftermath(), true, Demand::durable_is_there), "");
}

// All data is flushed, then the disk becomes full: no room for the index.
TEST_P(FullDisk, ACloseWithoutRoomForTheIndexLosesNothing) {
  on_team([&](tw_group* group, int task) {
    tw_multifile* file = nullptr;
    ASSERT_EQ(open(group, task, TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
    EXPECT_EQ(write(file, task * kFilesOfTask, 5000), TW_OK) << tw_last_error();
    EXPECT_EQ(flush(file, task), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    if (task == 0) disk_.fill();
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NO_SPACE) << tw_last_error();
  });

  EXPECT_EQ(check_content(aftermath(), true, Demand::durable_is_there), "");
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_NO_SPACE);
  EXPECT_EQ(check_content(aftermath(), true, Demand::durable_is_there), "") << "after a repair without room";
  disk_.free_ballast();
  EXPECT_EQ(check_aftermath(aftermath()), "");
}

TEST_P(FullDisk, ACreationFailsForAllAndLeavesNothing) {
  disk_.fill();
  on_team([&](tw_group* group, int task) {
    tw_multifile* file = nullptr;
    EXPECT_EQ(open(group, task, TW_CREATE | TW_TRUNCATE, &file), TW_ERR_NO_SPACE) << tw_last_error();
    EXPECT_EQ(file, nullptr);
  });

  EXPECT_EQ(names(), std::vector<std::string>{"ballast"});
  disk_.free_ballast();
  on_team([&](tw_group* group, int task) { write_and_close(group, task); });
  EXPECT_EQ(check_content(aftermath(true), false, Demand::durable_is_there), "");
}

TEST_P(FullDisk, AnAppendFailsForAllAndLeavesTheFileAsItWas) {
  on_team([&](tw_group* group, int task) { write_and_close(group, task); });
  disk_.fill();
  on_team([&](tw_group* group, int task) {
    tw_multifile* file = nullptr;
    EXPECT_EQ(open(group, task, TW_APPEND, &file), TW_ERR_NO_SPACE) << tw_last_error();
    EXPECT_EQ(file, nullptr);
  });

  EXPECT_EQ(check_content(aftermath(true), false, Demand::durable_is_there), "");
  disk_.free_ballast();
  EXPECT_EQ(check_aftermath(aftermath(true)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Settings, FullDisk,
    testing::Values(Setting{"AllDefaults", {}},
                    Setting{"Unbuffered", {"physical_files=1", "buffer_bytes=0", "chunk_bytes=16KiB"}},
                    Setting{"ThreeFilesSmallChunks",
                            {"physical_files=3", "chunk_bytes=6000", "buffer_bytes=1500", "alignment_bytes=512",
                             "granule_bytes=4096"}},
                    Setting{"Lz4", {"physical_files=2", "compression=lz4", "buffer_bytes=16KiB"}},
                    Setting{"SyncOnClose", {"sync_on_close=on", "chunk_bytes=64KiB"}}, Setting{"Added", {}, true},
                    Setting{"AddedInTwoFiles", {"physical_files=2", "buffer_bytes=1500"}, true}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
