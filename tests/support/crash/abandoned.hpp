// Checks abandoning an open file: the caller waits for no other task, the next collective call of the other tasks fails
// on all of them, nothing certifies the file as complete, and repair restores what every task wrote. Used for threads,
// processes and ranks.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/files/open_options.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {

// The open handles of the tasks of `group`. Each task writes bytes of its own.
class Given {
 public:
  virtual ~Given() = default;
  virtual void open(tw_group* group, const std::string& path) = 0;
  virtual tw_status write() = 0;  // independent
  virtual tw_status close() = 0;
  virtual tw_status abandon() = 0;
  // Called by one task after every task has left the file.
  virtual void check(const std::string& path, std::int64_t tasks) const = 0;

 protected:
  static std::string bytes_of(std::int64_t task) {
    return std::string(3000 + static_cast<std::size_t>(task), static_cast<char>('a' + task % 26));
  }
};

class GivenMultifile : public Given {
 public:
  void open(tw_group* group, const std::string& path) override {
    task_ = tw_group_rank(group);
    ASSERT_EQ(tw_multifile_open(group, path.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file_), TW_OK)
        << tw_last_error();
  }
  tw_status write() override { return tw_multifile_write(file_, bytes_of(task_).data(), bytes_of(task_).size()); }
  tw_status close() override { return tw_multifile_close(&file_); }
  tw_status abandon() override { return tw_multifile_abandon(&file_); }
  void check(const std::string& path, std::int64_t tasks) const override {
    tw_multifile* in = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &in), TW_ERR_NOT_CLOSED) << tw_last_error();
    ASSERT_EQ(tw_multifile_repair(path.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    for (std::int64_t task = 0; task < tasks; ++task) {
      std::string read(4000, '-');
      std::size_t got = 0;
      EXPECT_EQ(tw_multifile_seek_to(in, task, 0), TW_OK);
      EXPECT_EQ(tw_multifile_read(in, read.data(), read.size(), &got), TW_OK);
      EXPECT_EQ(read.substr(0, got), bytes_of(task)) << task;
    }
    EXPECT_EQ(tw_multifile_close(&in), TW_OK);
  }

 private:
  tw_multifile* file_ = nullptr;
  std::int64_t task_ = 0;
};

// One VP for each task. A collective flush stores some bytes, the others stay in memory.
class GivenVpfile : public Given {
 public:
  void open(tw_group* group, const std::string& path) override {
    task_ = tw_group_rank(group);
    const std::int64_t shape[] = {tw_group_size(group)};
    ASSERT_EQ(
        tw_vpfile_open(group, path.c_str(), TW_READ | TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, shape), &file_),
        TW_OK)
        << tw_last_error();
    const char first[] = {'+', '+', '+', '+'};
    ASSERT_EQ(tw_vpfile_write_all(file_, TW_VPFILE_PACKED(const_cast<char*>(first), 4), nullptr, nullptr), TW_OK);
    ASSERT_EQ(tw_vpfile_flush_all(file_), TW_OK);
  }
  tw_status write() override {
    return tw_vpfile_write(file_, task_, bytes_of(task_).data(), bytes_of(task_).size(), nullptr);
  }
  tw_status close() override { return tw_vpfile_close(&file_); }
  tw_status abandon() override { return tw_vpfile_abandon(&file_); }
  void check(const std::string& path, std::int64_t tasks) const override {
    tw_vpfile* in = nullptr;
    EXPECT_EQ(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &in), TW_ERR_NOT_CLOSED) << tw_last_error();
    ASSERT_EQ(tw_vpfile_repair(path.c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    ASSERT_EQ(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    for (std::int64_t task = 0; task < tasks; ++task) {
      std::string read(4000, '-');
      std::size_t got = 0;
      EXPECT_EQ(tw_vpfile_read(in, task, read.data(), read.size(), &got), TW_OK);
      EXPECT_EQ(read.substr(0, got), "++++" + bytes_of(task)) << task;
    }
    EXPECT_EQ(tw_vpfile_close(&in), TW_OK);
  }

 private:
  tw_vpfile* file_ = nullptr;
  std::int64_t task_ = 0;
};

class GivenFile : public Given {
 public:
  void open(tw_group* group, const std::string& path) override {
    constexpr int kNew = TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE;
    task_ = tw_group_rank(group);
    ASSERT_EQ(tw_file_open(group, path.c_str(), kNew, nullptr, &file_), TW_OK) << tw_last_error();
  }
  tw_status write() override {
    const std::string mine = bytes_of(task_);
    return tw_file_write_at(file_, mine.data(), static_cast<std::int64_t>(mine.size()), task_ * 4000);
  }
  tw_status close() override {
    EXPECT_EQ(tw_file_sync(file_), TW_ERR_NOT_CLOSED) << tw_last_error();
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iwrite_at_all(file_, "abc", 3, 0, &request), TW_OK);
    EXPECT_NE(tw_request_wait(&request, nullptr), TW_OK) << "nobody answers";
    return tw_file_close(&file_);
  }
  tw_status abandon() override { return tw_file_abandon(&file_); }
  void check(const std::string& path, std::int64_t tasks) const override {
    tw_group* self = nullptr;
    tw_file* in = nullptr;
    ASSERT_EQ(tw_group_self(&self), TW_OK);
    ASSERT_EQ(tw_file_open(self, path.c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    for (std::int64_t task = 0; task < tasks; ++task) {
      std::string read(bytes_of(task).size(), '-');
      EXPECT_EQ(tw_file_read_at(in, read.data(), static_cast<std::int64_t>(read.size()), task * 4000, nullptr), TW_OK);
      EXPECT_EQ(read, bytes_of(task)) << task;
    }
    EXPECT_EQ(tw_file_close(&in), TW_OK);
    tw_group_free(&self);
  }

 private:
  tw_file* file_ = nullptr;
  std::int64_t task_ = 0;
};

// Where the other tasks are when one task abandons the file.
enum class Peers { in_close, elsewhere, gone };

// Collective over `group`; each task passes a Given of its own. `meet` waits for all tasks.
inline void give_up(Given& given, tw_group* group, const std::string& path, std::int64_t leaver, Peers peers,
                    const std::function<void()>& meet) {
  const std::int64_t task = tw_group_rank(group);
  const bool leaves = task == leaver || peers == Peers::gone;
  given.open(group, path);
  EXPECT_EQ(given.write(), TW_OK) << tw_last_error();
  if (peers == Peers::elsewhere && !leaves) meet();
  if (leaves) {
    EXPECT_EQ(given.abandon(), TW_OK) << tw_last_error();
  }
  if (peers == Peers::elsewhere && leaves) meet();  // the others met while the file was abandoned
  if (!leaves) {
    EXPECT_EQ(given.close(), TW_ERR_NOT_CLOSED) << tw_last_error();
    const std::string_view said = tw_last_error();
    EXPECT_NE(said.find("task " + std::to_string(leaver) + " has abandoned it"), std::string_view::npos) << said;
  }
  meet();
  if (task == 0) given.check(path, tw_group_size(group));
  meet();
}

template <class Kind>
void give_up_in_all_ways(tw_group* group, const std::string& path, const std::function<void()>& meet) {
  const std::int64_t tasks = tw_group_size(group);
  for (const Peers peers : {Peers::in_close, Peers::elsewhere, Peers::gone}) {
    for (const std::int64_t leaver : {std::int64_t{0}, tasks - 1, tasks / 2}) {
      SCOPED_TRACE("task " + std::to_string(leaver) + " of " + std::to_string(tasks) + ", peers " +
                   std::to_string(static_cast<int>(peers)));
      Kind given;
      give_up(given, group, path, leaver, peers, meet);
    }
  }
}

}  // namespace thalweg::test
