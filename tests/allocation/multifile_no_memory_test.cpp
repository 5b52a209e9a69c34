// Each large allocation in turn fails once, in a small program that goes through the C API: create, write, add, flush,
// close, open, read. Each call reports the failure or succeeds, each collective returns the same status on all tasks,
// and data that was flushed or closed is in the file. Smaller allocations always succeed: without them the program
// ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/groups/run_on.hpp"
#include "support/memory/counting_new.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 250;  // time limit: then the program ends
constexpr std::size_t kRecord = 3000;
constexpr std::uint64_t kLarge = 64 << 10;  // smaller allocations are never refused
constexpr std::int64_t kRanks = 10'000;     // of each task: every second one, so that each is a range of its own
constexpr int kAdds = 6000;                 // more than a task keeps in memory: the close reads of them what it stored

std::int64_t rank_of(std::int64_t task, std::int64_t i) { return 2 * i + task; }

std::string fresh_path() {
  const char* base = std::getenv("TMPDIR");
  return std::string(base != nullptr ? base : "/tmp") + "/no_memory_" + std::to_string(::getpid()) + ".tw";
}

char byte_of(std::int64_t task, std::size_t i) {
  return static_cast<char>('a' + (static_cast<std::size_t>(task) * 7 + i) % 23);
}

// Statuses of one task. Fixed memory: no allocation is allowed while allocations fail.
struct Told {
  tw_status opened = TW_OK, closed = TW_OK, reopened = TW_OK, reclosed = TW_OK;
  tw_status independent[9] = {};  // of independent calls
  std::size_t kept = 0;           // bytes certified by a flush or close
  bool added = false;             // certified, too: all added logical files
  std::size_t read = 0;
  bool read_ok = false;
};

class MultifileNoMemory : public testing::Test {
 protected:
  void SetUp() override {
    alarm(kMostSeconds);
    for (std::int64_t task = 0; task < 2; ++task) {
      tw_options*& config = config_[task];
      ASSERT_EQ(tw_options_create(&config), TW_OK);
      ASSERT_EQ(tw_options_set_hint(config, "physical_files", "1"), TW_OK);
      ASSERT_EQ(tw_options_set_hint(config, "buffer_bytes", "4096"), TW_OK);
      std::vector<std::int64_t> ranks;
      for (std::int64_t i = 0; i < kRanks; ++i) ranks.push_back(rank_of(task, i));
      ASSERT_EQ(tw_options_set_ranks(config, 2 * kRanks, ranks.data(), ranks.size()), TW_OK);
      for (std::size_t i = 0; i < 2 * kRecord; ++i) data_[task][i] = byte_of(task, i);
    }
  }
  void TearDown() override {
    for (tw_options* config : config_) tw_options_free(&config);
    std::filesystem::remove(path_);
    alarm(0);
  }

  void write(tw_group* group, std::int64_t task, Told& told) {
    tw_multifile* file = nullptr;
    told.opened = tw_multifile_open(group, path_.c_str(), TW_CREATE | TW_TRUNCATE, config_[task], &file);
    if (told.opened != TW_OK) return;
    told.independent[0] = tw_multifile_write(file, data_[task], kRecord);
    told.independent[1] = tw_multifile_flush(file);
    const bool flushed = told.independent[0] == TW_OK && told.independent[1] == TW_OK;
    if (flushed) {
      told.kept = kRecord;
      told.independent[2] = tw_multifile_write(file, data_[task] + kRecord, kRecord);
    }
    bool written = flushed && told.independent[2] == TW_OK && write_others(file, task, told);
    written = written && add_names(file, task, told);
    told.closed = tw_multifile_close(&file);
    if (told.closed == TW_OK && written) told.kept = 2 * kRecord;
  }

  // A few bytes to each other rank of the task.
  bool write_others(tw_multifile* file, std::int64_t task, Told& told) {
    for (std::int64_t i = 1; i < kRanks && told.independent[4] == TW_OK; ++i) {
      told.independent[4] = tw_multifile_seek_to(file, rank_of(task, i), 0);
      if (told.independent[4] == TW_OK) told.independent[4] = tw_multifile_write(file, data_[task], 8);
    }
    return told.independent[4] == TW_OK;
  }

  struct Name {
    Name(std::int64_t task, int i) { (void)std::snprintf(text, sizeof text, "task %d/%d", static_cast<int>(task), i); }
    char text[40];
  };

  // Adds logical files of a few bytes, flushes, and returns to the first one.
  bool add_names(tw_multifile* file, std::int64_t task, Told& told) {
    std::int64_t first = 0;
    for (int i = 0; i < kAdds && told.independent[5] == TW_OK; ++i) {
      told.independent[5] = tw_multifile_add(file, Name(task, i).text, 0);
      if (told.independent[5] == TW_OK) told.independent[5] = tw_multifile_write(file, data_[task], 8);
      if (i == 0) (void)tw_multifile_tell(file, nullptr, &first);
    }
    if (told.independent[5] != TW_OK) return false;
    told.independent[6] = tw_multifile_flush(file);
    if (told.independent[6] != TW_OK) return false;
    told.added = true;
    told.independent[7] = tw_multifile_seek_to(file, first, -1);
    if (told.independent[7] == TW_OK) told.independent[7] = tw_multifile_write(file, data_[task] + 8, 8);
    return told.independent[7] == TW_OK;
  }

  void read(tw_group* group, std::int64_t task, Told& told) {
    tw_multifile* file = nullptr;
    told.reopened = tw_multifile_open(group, path_.c_str(), TW_READ | TW_RECOVER, config_[task], &file);
    if (told.reopened != TW_OK) return;
    char buffer[2 * kRecord + 1];
    told.independent[3] = tw_multifile_read(file, buffer, sizeof buffer, &told.read);
    told.read_ok = told.independent[3] == TW_OK && std::equal(buffer, buffer + told.read, data_[task]);
    std::int64_t rank = 0;
    if (told.added) told.independent[8] = tw_multifile_find(file, Name(task, kAdds / 2).text, &rank);
    told.reclosed = tw_multifile_close(&file);
  }

  static void expect_out_of_memory(tw_status status, const char* call) {
    EXPECT_TRUE(status == TW_OK || status == TW_ERR_NO_MEMORY) << call << " returned " << status;
  }

  void expect_good(const std::vector<Told>& all) {
    for (const Told& told : all) {
      EXPECT_EQ(told.opened, all[0].opened);
      EXPECT_EQ(told.closed, all[0].closed);
      EXPECT_EQ(told.reopened, all[0].reopened);
      for (const tw_status status : told.independent) expect_out_of_memory(status, "an independent call");
      expect_out_of_memory(told.opened, "tw_multifile_open");
      expect_out_of_memory(told.closed, "tw_multifile_close");
      if (told.kept > 0) expect_out_of_memory(told.reopened, "tw_multifile_open to read");
      if (told.opened == TW_OK && told.reopened == TW_OK && told.independent[3] == TW_OK) {
        EXPECT_TRUE(told.read_ok);
      }
    }
  }

  // With memory again: certified data is present.
  void expect_kept(const std::vector<Told>& all) {
    if (all[0].opened != TW_OK) return;
    ASSERT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    for (std::size_t task = 0; task < all.size(); ++task) {
      char buffer[2 * kRecord + 1];
      std::size_t got = 0;
      ASSERT_EQ(tw_multifile_seek_to(file, static_cast<std::int64_t>(task), 0), TW_OK);
      ASSERT_EQ(tw_multifile_read(file, buffer, sizeof buffer, &got), TW_OK) << tw_last_error();
      EXPECT_GE(got, all[task].kept);
      EXPECT_TRUE(std::equal(buffer, buffer + got, data_[task]));
      for (int i = 0; all[task].added && i < kAdds; i += i == 0 ? 1 : 371) {
        std::int64_t rank = -1;
        ASSERT_EQ(tw_multifile_find(file, Name(static_cast<std::int64_t>(task), i).text, &rank), TW_OK)
            << tw_last_error();
        ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK) << tw_last_error();
        ASSERT_EQ(tw_multifile_read(file, buffer, sizeof buffer, &got), TW_OK) << tw_last_error();
        EXPECT_TRUE(got == 8 || (i == 0 && got == 16)) << got;
        EXPECT_TRUE(std::equal(buffer, buffer + got, data_[task]));
      }
    }
    EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  }

  const std::string path_ = fresh_path();
  tw_options* config_[2] = {};
  char data_[2][2 * kRecord] = {};
};

TEST_F(MultifileNoMemory, OfOneTask) {
  for (std::uint64_t k = 1;; ++k) {
    SCOPED_TRACE("allocation " + std::to_string(k));
    std::vector<Told> told(1);
    std::filesystem::remove(path_);
    Allocations::start(k, kLarge);
    write(nullptr, 0, told[0]);
    if (told[0].opened == TW_OK) read(nullptr, 0, told[0]);
    Allocations::stop();
    expect_good(told);
    expect_kept(told);
    if (Allocations::count() < k || HasFailure()) break;
  }
  EXPECT_GT(Allocations::count(), 20u);
}

TEST_F(MultifileNoMemory, OfOneOfTwoThreads) {
  std::uint64_t most = 20;
  for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
    SCOPED_TRACE("allocation " + std::to_string(k));
    std::vector<Told> told(2);
    std::filesystem::remove(path_);
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(2, &team), TW_OK);
    std::vector<tw_group*> groups(2);
    on_threads(2, [&](std::int64_t task) {
      ASSERT_EQ(tw_group_team(team, task, &groups[static_cast<std::size_t>(task)]), TW_OK);
    });
    const auto body = [&](std::int64_t task) {
      const auto i = static_cast<std::size_t>(task);
      Allocations::join();
      write(groups[i], task, told[i]);
      if (told[i].opened == TW_OK) read(groups[i], task, told[i]);
      Allocations::stop();
    };
    Allocations::start(k, kLarge);
    Allocations::stop();
    on_threads(2, body);
    most = std::max(most, Allocations::count());
    for (tw_group* group : groups) tw_group_free(&group);
    tw_team_free(&team);
    expect_good(told);
    expect_kept(told);
  }
}

}  // namespace
}  // namespace thalweg::test
