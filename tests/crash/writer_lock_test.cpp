// Who writes a multifile or vpfile keeps everybody else who would change it away, as long as one of the processes lives
// that write it: repair, append, creation anew and import get TW_ERR_UNSAFE and leave the files as they are.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "os/file_ops.hpp"
#include "support/files/in_folder.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_ranks.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kVps[] = {2};

class WriterLock : public InFolder, public testing::WithParamInterface<bool> {
 protected:
  bool of_vpfile() const { return GetParam(); }

  tw_status repair(std::int32_t flags = 0) const {
    return of_vpfile() ? tw_vpfile_repair(path().c_str(), flags, 0, nullptr, nullptr, nullptr, nullptr, nullptr)
                       : tw_multifile_repair(path().c_str(), flags, nullptr, nullptr, nullptr, nullptr);
  }
  tw_status verify() const {
    return of_vpfile() ? tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr)
                       : tw_multifile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr);
  }

  // Opens for writing; an opened file is closed again.
  tw_status try_writing(bool anew) const {
    if (of_vpfile()) {
      tw_vpfile* file = nullptr;
      const tw_status status =
          tw_vpfile_open(nullptr, path().c_str(), anew ? TW_CREATE | TW_TRUNCATE : TW_CREATE | TW_APPEND,
                         OpenWith().shape(1, kVps), &file);
      return status == TW_OK ? tw_vpfile_close(&file) : status;
    }
    tw_multifile* file = nullptr;
    const tw_status status =
        tw_multifile_open(nullptr, path().c_str(), anew ? TW_CREATE | TW_TRUNCATE : TW_APPEND, nullptr, &file);
    return status == TW_OK ? tw_multifile_close(&file) : status;
  }
  void expect_all_refused() const {
    EXPECT_EQ(repair(), TW_ERR_UNSAFE) << tw_last_error();
    EXPECT_EQ(try_writing(true), TW_ERR_UNSAFE) << tw_last_error();
    // An unclosed file is refused for that reason, too.
    const tw_status append = try_writing(false);
    EXPECT_TRUE(append == TW_ERR_UNSAFE || append == TW_ERR_NOT_CLOSED) << append << tw_last_error();
  }
};

// One rank of a program that writes "rank N" and flushes at each step. No group: a task alone.
class Writer {
 public:
  Writer(tw_group* group, const std::string& path, bool of_vpfile, int flags = TW_CREATE | TW_TRUNCATE)
      : rank_(group != nullptr ? tw_group_rank(group) : 0) {
    if (of_vpfile)
      status = tw_vpfile_open(group, path.c_str(), flags, OpenWith().shape(1, kVps), &vpfile_);
    else
      status = tw_multifile_open(group, path.c_str(), flags, nullptr, &multifile_);
  }
  tw_status write() {
    const std::string text = "rank " + std::to_string(rank_) + "\n";
    if (vpfile_ != nullptr) {
      const tw_status written = tw_vpfile_write(vpfile_, rank_, text.data(), text.size(), nullptr);
      return written == TW_OK ? tw_vpfile_flush(vpfile_, rank_) : written;
    }
    const tw_status written = tw_multifile_write(multifile_, text.data(), text.size());
    return written == TW_OK ? tw_multifile_flush(multifile_) : written;
  }
  tw_status close() { return vpfile_ != nullptr ? tw_vpfile_close(&vpfile_) : tw_multifile_close(&multifile_); }
  tw_status abandon() { return vpfile_ != nullptr ? tw_vpfile_abandon(&vpfile_) : tw_multifile_abandon(&multifile_); }

  tw_status status = TW_OK;

 private:
  const std::int64_t rank_;
  tw_vpfile* vpfile_ = nullptr;
  tw_multifile* multifile_ = nullptr;
};

std::string content_of(const std::string& path, bool of_vpfile, std::int64_t rank) {
  std::string text(100, '\0');
  std::size_t got = 0;
  if (of_vpfile) {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    if (file == nullptr) return "";
    EXPECT_EQ(tw_vpfile_read(file, rank, text.data(), text.size(), &got), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(&file), TW_OK);
  } else {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    if (file == nullptr) return "";
    EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
    EXPECT_EQ(tw_multifile_read(file, text.data(), text.size(), &got), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  }
  text.resize(got);
  return text;
}

TEST_P(WriterLock, WhatIsNotThereIsNotRepaired) {
  EXPECT_EQ(repair(), TW_ERR_NOT_FOUND) << tw_last_error();

  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

// The process of task 0 is killed, and the others continue.
TEST_P(WriterLock, IsHeldByEveryProcessThatWrites) {
  const std::string file = path();
  const bool vpfile = of_vpfile();
  ProcessRanks ranks(3, [&](tw_group* group, Steps& steps) {
    Writer writer(group, file, vpfile);
    steps.results[0] = writer.status;
    steps.results[1] = tw_group_rank(group) < 2 ? writer.write() : TW_OK;
    steps.reach(1);
    for (int step = 2; step < 4; ++step) {
      steps.wait_until_allowed(step);
      steps.results[static_cast<std::size_t>(step)] = tw_group_rank(group) < 2 ? writer.write() : TW_OK;
      steps.reach(step);
    }
  });
  for (int r = 0; r < 3; ++r) {
    ASSERT_TRUE(ranks.steps(r).wait_for(1));
    ASSERT_EQ(ranks.steps(r).results[0], TW_OK);
    ASSERT_EQ(ranks.steps(r).results[1], TW_OK);
  }
  expect_all_refused();

  ranks.kill(0);
  expect_all_refused();
  ranks.steps(1).allow(2);
  ASSERT_TRUE(ranks.steps(1).wait_for(2));
  EXPECT_EQ(ranks.steps(1).results[2], TW_OK);
  ranks.kill(2);
  expect_all_refused();
  ranks.steps(1).allow(3);
  EXPECT_EQ(ranks.join(1), 0);
  EXPECT_EQ(ranks.steps(1).results[3], TW_OK);

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();
  EXPECT_EQ(content_of(file, vpfile, 0), "rank 0\n");
  EXPECT_EQ(content_of(file, vpfile, 1), "rank 1\nrank 1\nrank 1\n");
  EXPECT_EQ(try_writing(false), TW_OK) << tw_last_error();
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
}

// Once the close has returned on one task another writer may open the file.
TEST_P(WriterLock, IsGivenUpBeforeTheCloseReturns) {
  const std::string file = path();
  const bool vpfile = of_vpfile();
  for (int round = 0; round < 20; ++round) {
    ProcessRanks ranks(2, [&](tw_group* group, Steps& steps) {
      Writer writer(group, file, vpfile);
      steps.results[0] = writer.status;
      steps.results[1] = writer.write();
      steps.results[2] = writer.close();
      if (tw_group_rank(group) != 0) return;
      steps.results[3] = try_writing(false);
    });
    EXPECT_EQ(ranks.join(0), 0);
    EXPECT_EQ(ranks.join(1), 0);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ranks.steps(0).results[i], TW_OK) << i;
  }
}

// A forked child has the descriptors of its parent, but not its locks.
TEST_P(WriterLock, IsNotInheritedByAChild) {
  tw_group* alone = nullptr;
  ASSERT_EQ(tw_group_self(&alone), TW_OK);
  const std::string file = path();
  ProcessRanks parent(1, [&](tw_group* group, Steps& steps) {
    tw_multifile* multifile = nullptr;
    tw_vpfile* vpfile = nullptr;
    steps.results[0] =
        of_vpfile() ? tw_vpfile_open(group, file.c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, kVps), &vpfile)
                    : tw_multifile_open(group, file.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &multifile);
    const pid_t child = ::fork();
    if (child == 0) {
      steps.results[1] =
          of_vpfile() ? tw_vpfile_write(vpfile, 0, "child", 5, nullptr) : tw_multifile_write(multifile, "child", 5);
      steps.results[2] = of_vpfile() ? tw_vpfile_close(&vpfile) : tw_multifile_close(&multifile);
      steps.results[7] = of_vpfile() ? tw_vpfile_abandon(&vpfile) : tw_multifile_abandon(&multifile);
      steps.reach(1);
      steps.wait_until_allowed(1);
      std::exit(0);
    }
    if (!steps.wait_for(1)) ::_exit(7);
    steps.results[3] =
        of_vpfile() ? tw_vpfile_write(vpfile, 0, "parent", 6, nullptr) : tw_multifile_write(multifile, "parent", 6);
    steps.results[4] = of_vpfile() ? tw_vpfile_close(&vpfile) : tw_multifile_close(&multifile);
    steps.results[5] = try_writing(false);
    steps.allow(1);
    int status = 0;
    ::waitpid(child, &status, 0);
    steps.results[6] = status;
  });
  EXPECT_EQ(parent.join(0), 0);
  const auto& results = parent.steps(0).results;
  EXPECT_EQ(results[0], TW_OK);
  EXPECT_EQ(results[1], TW_ERR_MODE) << "written by a child";
  EXPECT_EQ(results[2], TW_ERR_MODE) << "closed by a child";
  EXPECT_EQ(results[7], TW_ERR_MODE) << "abandoned by a child";
  EXPECT_EQ(results[3], TW_OK);
  EXPECT_EQ(results[4], TW_OK);
  EXPECT_EQ(results[5], TW_OK) << "the child keeps the lock";
  EXPECT_EQ(results[6], 0);
  EXPECT_EQ(content_of(file, of_vpfile(), 0), "parent");
  tw_group_free(&alone);
}

// Children that are made while the file is opened, and live longer than it is open.
TEST_P(WriterLock, IsNotInheritedWhereverTheForkFalls) {
  std::atomic<bool> done = false;
  std::thread forks([&] {
    std::deque<pid_t> children;
    const auto wait_for_oldest = [&] {
      ::waitpid(children.front(), nullptr, 0);
      children.pop_front();
    };
    while (!done) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::usleep(50'000);
        ::_exit(0);
      }
      if (child > 0) children.push_back(child);
      if (children.size() > 100) wait_for_oldest();
    }
    while (!children.empty()) wait_for_oldest();
  });
  int refused = 0;
  for (int opens = 0; opens < 500; ++opens)
    if (try_writing(opens == 0) != TW_OK) ++refused;
  done = true;
  forks.join();

  EXPECT_EQ(refused, 0);
}

// Its copy of the descriptors is gone only when its program begins.
TEST_P(WriterLock, IsNotInheritedByAProcessThatIsBeingSpawned) {
  std::atomic<bool> done = false;
  std::thread spawns([&] {
    while (!done) {
      pid_t child = 0;
      std::string name = "true";
      char* const argv[] = {name.data(), nullptr};
      if (::posix_spawnp(&child, "true", nullptr, nullptr, argv, environ) == 0) ::waitpid(child, nullptr, 0);
    }
  });
  int refused = 0;
  for (int opens = 0; opens < 500; ++opens)
    if (try_writing(opens == 0) != TW_OK) ++refused;
  done = true;
  spawns.join();

  EXPECT_EQ(refused, 0);
}

// A file system without locks, or whose locks do not reach the other node: nobody is kept away. What must not happen is
// that two programs are told of success and bytes of one are gone.
class WithoutLocks : public WriterLock {
 protected:
  void SetUp() override {
    WriterLock::SetUp();
    transfer_calls().lock = [](int, int, struct ::flock*) {
      errno = ENOSYS;
      return -1;
    };
  }
  void TearDown() override {
    transfer_calls() = usual_;
    WriterLock::TearDown();
  }
  void expect_refused(tw_status status, const char* why) const {
    EXPECT_EQ(status, TW_ERR_UNSAFE);
    const std::string message = tw_last_error();
    EXPECT_NE(message.find(path()), std::string::npos) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  }
  // The slots that say whether the file is closed.
  std::string state_path() const { return of_vpfile() ? path() + ".meta" : path(); }
  std::string state() const {
    std::string bytes(8192, '\0');
    std::ifstream(state_path(), std::ios::binary).read(bytes.data(), 8192);
    return bytes.substr(0, of_vpfile() ? 8192 : 4096);
  }

 private:
  const TransferCalls usual_ = transfer_calls();
};

TEST_P(WithoutLocks, AnUnclosedFileIsRepairedWhenForced) {
  Writer writer(nullptr, path(), of_vpfile());
  ASSERT_EQ(writer.status, TW_OK) << tw_last_error();
  EXPECT_EQ(writer.write(), TW_OK) << tw_last_error();
  EXPECT_EQ(writer.abandon(), TW_OK) << tw_last_error();

  expect_refused(repair(), "thalweg repair --force");
  EXPECT_EQ(repair(2), TW_ERR_INVALID);
  EXPECT_EQ(repair(TW_REPAIR_FORCE), TW_OK) << tw_last_error();
  EXPECT_EQ(content_of(path(), of_vpfile(), 0), "rank 0\n");
  EXPECT_EQ(repair(), TW_OK) << tw_last_error();
  EXPECT_EQ(try_writing(false), TW_OK) << tw_last_error();
}

// What lives on and writes nothing looks like what is dead.
TEST_P(WithoutLocks, TheCloseOfAWriterWhoseFileWasRepairedFails) {
  Writer writer(nullptr, path(), of_vpfile());
  ASSERT_EQ(writer.status, TW_OK) << tw_last_error();
  EXPECT_EQ(writer.write(), TW_OK) << tw_last_error();

  EXPECT_EQ(repair(TW_REPAIR_FORCE), TW_OK) << tw_last_error();
  EXPECT_EQ(content_of(path(), of_vpfile(), 0), "rank 0\n");
  expect_refused(writer.close(), "repaired");
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  EXPECT_EQ(content_of(path(), of_vpfile(), 0), "rank 0\n");
}

TEST_P(WithoutLocks, TheCloseOfAWriterWhoseFileWasMadeAnewFails) {
  Writer first(nullptr, path(), of_vpfile());
  EXPECT_EQ(first.write(), TW_OK) << tw_last_error();

  Writer second(nullptr, path(), of_vpfile());
  ASSERT_EQ(second.status, TW_OK) << tw_last_error();
  EXPECT_EQ(second.write(), TW_OK) << tw_last_error();
  expect_refused(first.close(), "");
  EXPECT_EQ(second.close(), TW_OK) << tw_last_error();
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  EXPECT_EQ(content_of(path(), of_vpfile(), 0), "rank 0\n");
}

TEST_P(WithoutLocks, AFileThatChangesIsNeitherRepairedNorMadeAnew) {
  Writer writer(nullptr, path(), of_vpfile());
  ASSERT_EQ(writer.status, TW_OK) << tw_last_error();
  std::atomic<bool> done = false;
  int written = 0;
  std::thread writes([&] {
    for (; !done; ++written) {
      EXPECT_EQ(writer.write(), TW_OK) << tw_last_error();
      ::usleep(20'000);
    }
  });

  for (const std::int32_t flags : {0, TW_REPAIR_FORCE + 0}) expect_refused(repair(flags), "is being written");
  expect_refused(try_writing(true), "is being written");
  done = true;
  writes.join();
  EXPECT_EQ(writer.close(), TW_OK) << tw_last_error();
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  tw_health health{};
  health.struct_size = sizeof health;
  EXPECT_EQ(of_vpfile() ? tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, &health)
                        : tw_multifile_verify(path().c_str(), nullptr, nullptr, nullptr, &health),
            TW_OK);
  EXPECT_EQ(health.logical_bytes, written * 7);
}

// Both find the file closed, as the second one reads it before the first one marks it.
TEST_P(WithoutLocks, OfTwoThatAppendAtOnceOneIsTold) {
  EXPECT_EQ(try_writing(true), TW_OK) << tw_last_error();
  const std::string closed = state();
  Writer first(nullptr, path(), of_vpfile(), TW_APPEND);
  ASSERT_EQ(first.status, TW_OK) << tw_last_error();
  std::fstream(state_path(), std::ios::binary | std::ios::in | std::ios::out)
      .write(closed.data(), static_cast<std::streamsize>(closed.size()));
  Writer second(nullptr, path(), of_vpfile(), TW_APPEND);
  ASSERT_EQ(second.status, TW_OK) << tw_last_error();

  EXPECT_EQ(first.close(), TW_OK) << tw_last_error();
  expect_refused(second.close(), "closed, repaired");
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
}

// A multifile of two physical files that is not closed; its handle is kept, or abandoned.
tw_multifile* write_unclosed(const std::string& path, const char* text) {
  tw_options* config = nullptr;
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_options_create(&config), TW_OK);
  EXPECT_EQ(tw_options_set_hint(config, "physical_files", "2"), TW_OK);
  EXPECT_EQ(tw_options_set_range(config, 2, 0, 2), TW_OK);
  EXPECT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK) << tw_last_error();
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(tw_multifile_write(file, text, std::strlen(text)), TW_OK);
  }
  EXPECT_EQ(tw_multifile_sync(file), TW_OK);
  tw_options_free(&config);
  return file;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Renames a live multifile to the name of the file that a call works on, while it does.
struct Renames {
  std::filesystem::path from, to;
  int at = 0;          // call of `progress`
  int calls = 0;       // so far
  bool stops = false;  // the call, once the file is renamed
  bool done() const { return calls > at; }
  static int progress(std::int64_t, std::int64_t, void* user) {
    auto& self = *static_cast<Renames*>(user);
    if (self.calls++ == self.at) std::filesystem::rename(self.from, self.to);
    return self.stops && self.done() ? 1 : 0;
  }
  static void finding(const char*, void* user) { (void)progress(0, 0, user); }
};

class LiveFile : public InFolder {
 protected:
  void expect_left_by(const std::function<tw_status(const std::string& to, Renames& renames)>& copy) const;
};

TEST_F(LiveFile, IsLeftAloneByARepairOfTheFileWhoseNameItTakes) {
  const std::string dead = path("dead.tw"), live = path("live.tw");
  for (const char* number : {"", ".000001"}) {
    for (Renames renames{live + number, dead + number, 0, 0}; renames.calls >= renames.at; ++renames.at) {
      SCOPED_TRACE("call " + std::to_string(renames.at) + number);
      tw_multifile* unclosed = write_unclosed(dead, "what the dead one wrote");
      ASSERT_EQ(tw_multifile_abandon(&unclosed), TW_OK);
      tw_multifile* writer = write_unclosed(live, "what the live one writes");
      const std::string before = bytes_of(renames.from);

      renames.calls = 0;
      (void)tw_multifile_repair(dead.c_str(), 0, Renames::finding, Renames::progress, &renames, nullptr);

      if (renames.done()) {
        EXPECT_TRUE(bytes_of(renames.to) == before);
        std::filesystem::rename(renames.to, renames.from);
      }
      EXPECT_EQ(tw_multifile_close(&writer), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_verify(live.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
      for (const auto& entry : std::filesystem::directory_iterator(folder())) std::filesystem::remove(entry);
    }
  }
}

// A copy that fails removes the file that it made, and no file that has got its name meanwhile.
void LiveFile::expect_left_by(const std::function<tw_status(const std::string& to, Renames& renames)>& copy) const {
  const std::string live = path("live.tw"), to = path("copy");
  int renamed = 0;
  for (const bool stops : {false, true}) {
    for (Renames renames{live, to, 0, 0, stops}; renames.calls >= renames.at; ++renames.at) {
      SCOPED_TRACE("call " + std::to_string(renames.at) + (stops ? ", stopped" : ""));
      tw_multifile* writer = write_unclosed(live, "what the live one writes");
      const std::string before = bytes_of(live);

      renames.calls = 0;
      const tw_status status = copy(to, renames);

      if (renames.done() && std::filesystem::exists(live)) std::filesystem::rename(live, to);
      if (renames.done()) {
        EXPECT_NE(status, TW_OK);
        EXPECT_TRUE(bytes_of(to) == before);
        std::filesystem::rename(to, live);
        ++renamed;
      }
      EXPECT_EQ(tw_multifile_close(&writer), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_verify(live.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
      for (const std::string& made : {to, to + ".meta", live, live + ".000001"}) std::filesystem::remove(made);
    }
  }
  EXPECT_GE(renamed, 4);
}

TEST_F(LiveFile, IsLeftAloneByADefragWhoseCopyLosesItsName) {
  const std::string from = path("from.tw");
  tw_multifile* file = write_unclosed(from, "what is copied");
  ASSERT_EQ(tw_multifile_close(&file), TW_OK);
  expect_left_by([&](const std::string& to, Renames& renames) {
    return tw_multifile_defrag(from.c_str(), to.c_str(), nullptr, Renames::progress, &renames);
  });
}

TEST_F(LiveFile, IsLeftAloneByAFlattenWhoseArrayLosesItsName) {
  const std::string from = path("from.vp");
  tw_vpfile* file = nullptr;
  OpenWith options;
  ASSERT_EQ(tw_vpfile_open(nullptr, from.c_str(), TW_CREATE | TW_TRUNCATE, options.shape(1, kVps), &file), TW_OK);
  const std::string text(std::size_t{6} << 20, 'x');
  for (std::int64_t vp = 0; vp < kVps[0]; ++vp)
    ASSERT_EQ(tw_vpfile_write(file, vp, text.data(), text.size(), nullptr), TW_OK);
  ASSERT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
  expect_left_by([&](const std::string& to, Renames& renames) {
    return tw_vpfile_flatten(from.c_str(), to.c_str(), 0, 0, Renames::progress, &renames);
  });
}

TEST_F(LiveFile, IsLeftAloneByAnImport) {
  const std::string array = path("array");
  std::ofstream(array) << std::string(16, 'x');
  tw_vpfile* file = nullptr;
  OpenWith options;
  ASSERT_EQ(tw_vpfile_open(nullptr, array.c_str(), TW_READ | TW_WRITE, options.shape(1, kVps), &file), TW_OK)
      << tw_last_error();

  EXPECT_EQ(tw_vpfile_import(array.c_str(), 1, kVps, 8), TW_ERR_UNSAFE) << tw_last_error();

  EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_vpfile_import(array.c_str(), 1, kVps, 8), TW_OK) << tw_last_error();
}

INSTANTIATE_TEST_SUITE_P(Files, WriterLock, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "Vpfile" : "Multifile"; });
INSTANTIATE_TEST_SUITE_P(Files, WithoutLocks, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "Vpfile" : "Multifile"; });

}  // namespace
}  // namespace thalweg::test
