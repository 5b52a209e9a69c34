// tw_multifile_isync(): a sync that goes on while the program writes.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "os/file_ops.hpp"
#include "support/files/held_syncs.hpp"
#include "support/files/on_disk.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {
namespace {

std::atomic<int> n_syncs{0};
std::atomic<bool> fails{false};
int counted_sync(int) {
  ++n_syncs;
  errno = EIO;
  return fails ? -1 : 0;
}

class Isync : public OnDisk {
 protected:
  void SetUp() override {
    OnDisk::SetUp();
    usual_ = transfer_calls();
    transfer_calls().sync = counted_sync;
    n_syncs = 0;
    fails = false;
  }
  void TearDown() override {
    transfer_calls() = usual_;
    OnDisk::TearDown();
  }
  static void write(tw_multifile* file, const std::string& text) {
    ASSERT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
  }
  static tw_request* isync(tw_multifile* file) {
    tw_request* request = nullptr;
    EXPECT_EQ(tw_multifile_isync(file, &request), TW_OK) << tw_last_error();
    EXPECT_NE(request, nullptr);
    return request;
  }
  static bool is_complete(tw_request*& request) {
    int done = 0;
    EXPECT_EQ(tw_request_test(&request, &done, nullptr), TW_OK) << tw_last_error();
    return done != 0;
  }

  // Releases the syncs during `waits`, which returns only then. The pause gives a call that does not wait the time to
  // return too early; one that waits passes however slow the machine is.
  static void release_during(std::unique_ptr<HeldSyncs>& held, const std::function<void()>& waits) {
    std::atomic<bool> has_returned{false};
    std::thread releaser([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_FALSE(has_returned);
      held.reset();
    });
    waits();
    has_returned = true;
    releaser.join();
  }
  // Each task has a handle, which `body` frees.
  void run_on_two_tasks(const std::function<void(tw_multifile*, std::int64_t)>& body) {
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(2, &team), TW_OK);
    on_threads(2, [&](std::int64_t task) {
      tw_group* group = nullptr;
      ASSERT_EQ(tw_group_team(team, task, &group), TW_OK) << tw_last_error();
      tw_multifile* file = nullptr;
      ASSERT_EQ(tw_multifile_open(group, path_.c_str(), TW_CREATE, nullptr, &file), TW_OK) << tw_last_error();
      body(file, task);
      tw_group_free(&group);
    });
    tw_team_free(&team);
  }

 private:
  TransferCalls usual_{};
};

TEST_F(Isync, IsCompleteWhenTheStorageHasTheBytes) {
  tw_multifile* file = open(TW_CREATE);
  write(file, "abc");
  std::size_t moved = 1;
  auto held = std::make_unique<HeldSyncs>();

  tw_request* request = isync(file);

  EXPECT_FALSE(is_complete(request));
  EXPECT_EQ(n_syncs, 0);
  held.reset();
  EXPECT_EQ(tw_request_wait(&request, &moved), TW_OK) << tw_last_error();
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(moved, 0U);
  EXPECT_GT(n_syncs, 0);
  close(file);
}

TEST_F(Isync, TheProgramWritesFlushesAndSyncsMeanwhile) {
  std::string all;
  const auto append = [&](tw_multifile* file, std::size_t bytes, char letter) {
    write(file, std::string(bytes, letter));
    all.append(bytes, letter);
  };
  tw_multifile* file = open(TW_CREATE);
  std::vector<tw_request*> requests;
  auto held = std::make_unique<HeldSyncs>();
  for (const char letter : {'a', 'b', 'c'}) {
    append(file, 300'000, letter);
    requests.push_back(isync(file));
    requests.push_back(isync(file));
    append(file, 10, 'x');
    EXPECT_EQ(tw_multifile_flush(file), TW_OK);
    append(file, 200'000, 'y');
    EXPECT_EQ(tw_multifile_sync(file), TW_OK) << tw_last_error();
  }
  held.reset();
  EXPECT_EQ(tw_request_waitall(std::ssize(requests), requests.data(), nullptr, nullptr), TW_OK);
  append(file, 100'000, 'z');
  close(file);

  file = open(TW_READ);
  EXPECT_TRUE(read_all(file) == all);
  close(file);
}

// A chunk may not grow before its sync has succeeded.
TEST_F(Isync, TheNextBytesBeginANewChunkUnlessItIsComplete) {
  hint("chunk_bytes", "4MiB");
  tw_multifile* file = open(TW_CREATE);
  const auto write_and_sync = [&] {
    write(file, std::string(400'000, 'a'));
    return isync(file);
  };
  for (int i = 0; i < 4; ++i) {
    tw_request* request = write_and_sync();
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
  }
  auto held = std::make_unique<HeldSyncs>();
  tw_request* request = write_and_sync();
  write(file, std::string(400'000, 'a'));
  held.reset();
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
  close(file);

  file = open(TW_READ);
  std::int64_t bytes[2] = {};
  for (const std::int64_t i : {0, 1}) {
    tw_piece piece{};
    EXPECT_EQ(tw_multifile_piece(file, 0, i, &piece), TW_OK) << tw_last_error();
    bytes[i] = piece.logical_bytes;
  }
  EXPECT_EQ(bytes[0], 2'000'000);
  EXPECT_EQ(bytes[1], 400'000);
  close(file);
}

TEST_F(Isync, TheCloseWaitsForIt) {
  tw_multifile* file = open(TW_CREATE);
  write(file, "abc");
  auto held = std::make_unique<HeldSyncs>();
  tw_request* request = isync(file);

  release_during(held, [&] { close(file); });

  EXPECT_TRUE(is_complete(request));
}

TEST_F(Isync, AbandoningWaitsForItAndFailsWithIt) {
  tw_multifile* file = open(TW_CREATE);
  write(file, "abc");
  fails = true;
  auto held = std::make_unique<HeldSyncs>();
  tw_request* request = isync(file);

  release_during(held, [&] { EXPECT_EQ(tw_multifile_abandon(&file), TW_ERR_IO); });

  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_IO);
}

TEST_F(Isync, TheCloseWaitsForItWhereAnotherTaskHasAbandonedTheMultifile) {
  auto held = std::make_unique<HeldSyncs>();
  tw_request* request = nullptr;
  run_on_two_tasks([&](tw_multifile* file, std::int64_t task) {
    write(file, "abc");
    if (task == 1) {
      EXPECT_EQ(tw_multifile_abandon(&file), TW_OK) << tw_last_error();
    } else {
      request = isync(file);
      release_during(held, [&] { EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NOT_CLOSED); });
    }
  });
  EXPECT_TRUE(is_complete(request));
}

// Once every sync left the rest of a large chunk as a hole.
TEST_F(Isync, FrequentSyncsLeaveSmallHoles) {
  tw_multifile* file = open(TW_CREATE);
  const std::string record(300'000, 'a');
  write(file, std::string(4 << 20, 'a'));
  std::vector<tw_request*> requests;
  {
    const HeldSyncs held;
    for (int i = 0; i < 100; ++i) {
      requests.push_back(isync(file));
      write(file, record);
    }
  }
  EXPECT_EQ(tw_request_waitall(std::ssize(requests), requests.data(), nullptr, nullptr), TW_OK);
  close(file);
  EXPECT_LT(std::filesystem::file_size(path_), 100'000'000U);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file).size(), 100 * record.size() + (4 << 20));
  close(file);
}

TEST_F(Isync, ServesManyLogicalFilesInPacks) {
  for (const char* codec : {"none", "zstd"}) {
    hint("compression", codec);
    ASSERT_EQ(tw_options_set_range(config_, 300, 0, 300), TW_OK);
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    std::vector<tw_request*> requests;
    for (int round = 0; round < 3; ++round) {
      for (std::int64_t rank = 0; rank < 300; ++rank) {
        ASSERT_EQ(tw_multifile_seek_to(file, rank, -1), TW_OK);
        write(file, "some text of logical file " + std::to_string(rank));
      }
      requests.push_back(isync(file));
    }
    close(file);
    EXPECT_EQ(tw_request_waitall(std::ssize(requests), requests.data(), nullptr, nullptr), TW_OK);
    file = open(TW_READ);
    ASSERT_EQ(tw_multifile_seek_to(file, 7, 0), TW_OK);
    EXPECT_EQ(read_all(file).size(), 3 * std::string("some text of logical file 7").size());
    close(file);
  }
}

TEST_F(Isync, AFailureIsThatOfTheRequestAndOfTheClose) {
  tw_multifile* file = open(TW_CREATE);
  write(file, "abc");
  fails = true;

  tw_request* request = isync(file);

  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_IO);
  EXPECT_NE(std::string(tw_last_error()).find(path_), std::string::npos);
  fails = false;
  write(file, "def");
  EXPECT_EQ(tw_multifile_sync(file), TW_ERR_IO);
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_IO);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file), TW_ERR_NOT_CLOSED);
}

TEST_F(Isync, AFailureThatNobodyWaitedForFailsTheClose) {
  tw_multifile* file = open(TW_CREATE);
  write(file, "abc");
  fails = true;
  tw_request* request = isync(file);
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_IO);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_IO);
}

TEST_F(Isync, IncludesWhatAFileStarHolds) {
  tw_multifile* file = open(TW_CREATE);
  FILE* stream = nullptr;
  ASSERT_EQ(tw_multifile_fopen(file, 0, "w", &stream), TW_OK) << tw_last_error();
  ASSERT_GT(std::fprintf(stream, "abc"), 0);
  tw_request* request = isync(file);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
  std::int64_t bytes = 0;
  EXPECT_EQ(tw_multifile_size(file, 0, &bytes), TW_OK);
  EXPECT_EQ(bytes, 3);
  std::fclose(stream);
  close(file);
}

TEST_F(Isync, WrongCallsAreRefused) {
  tw_multifile* file = open(TW_CREATE);
  EXPECT_EQ(tw_multifile_isync(file, nullptr), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("request"), std::string::npos);
  close(file);
  file = open(TW_READ);
  tw_request* request = nullptr;
  EXPECT_EQ(tw_multifile_isync(file, &request), TW_ERR_MODE);
  EXPECT_EQ(request, nullptr);
  close(file);
  EXPECT_EQ(tw_multifile_isync(nullptr, &request), TW_ERR_INVALID);
}

TEST_F(Isync, TasksOfOneProcessSyncAtOnce) {
  const auto letter_of = [](std::int64_t task) { return static_cast<char>('a' + task); };
  run_on_two_tasks([&](tw_multifile* file, std::int64_t task) {
    std::vector<tw_request*> syncs;
    for (int i = 0; i < 100; ++i) {
      write(file, std::string(10'000, letter_of(task)));
      syncs.push_back(isync(file));
      EXPECT_EQ(i % 3 == 0 ? tw_multifile_flush(file) : TW_OK, TW_OK);
    }
    close(file);
    EXPECT_EQ(tw_request_waitall(std::ssize(syncs), syncs.data(), nullptr, nullptr), TW_OK) << tw_last_error();
  });

  tw_multifile* file = open(TW_READ);
  for (std::int64_t task = 0; task < 2; ++task) {
    EXPECT_EQ(tw_multifile_seek_to(file, task, 0), TW_OK) << tw_last_error();
    EXPECT_TRUE(read_all(file) == std::string(1'000'000, letter_of(task))) << task;
  }
  close(file);
}

}  // namespace
}  // namespace thalweg::test
