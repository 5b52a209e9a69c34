// Groups whose collectives only their own threads may advance, like MPI ranks without MPI_THREAD_MULTIPLE: requests are
// advanced by threads that start them, wait for them, or call a collective of such a group.
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "capi/handles.hpp"
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

// Threads that have called or advanced a collective.
class Visitors {
 public:
  void note() {
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
  }
  std::set<std::thread::id> all() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;  // guarded by mutex_
};

class OneThreadGroup final : public Group {
 public:
  OneThreadGroup(std::shared_ptr<Group> inner, std::shared_ptr<Visitors> visitors)
      : inner_(std::move(inner)), visitors_(std::move(visitors)) {}
  TaskRank rank() const noexcept override { return inner_->rank(); }
  TaskRank size() const noexcept override { return inner_->size(); }
  Place place() const noexcept override { return inner_->place(); }
  const char* kind() const noexcept override { return "one thread"; }
  bool any_thread() const noexcept override { return false; }

  Op<Status> barrier() override { return noted(inner_->barrier()); }
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override { return noted(inner_->broadcast(data, root)); }
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override { return noted(inner_->gather(data, root)); }
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override {
    return noted(inner_->scatter(parts, root));
  }
  Op<Result<Gathered>> allgather(ByteView data) override { return noted(inner_->allgather(data)); }
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override {
    return noted(inner_->allreduce(std::move(mine), how));
  }
  Op<Status> fold(void* mine, void* before, Folding how) override { return noted(inner_->fold(mine, before, how)); }
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override {
    return noted(inner_->exchange(std::move(outgoing)));
  }
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override {
    return noted(inner_->share_in_process(std::move(make)));
  }
  Op<Result<std::unique_ptr<Group>>> duplicate() override {
    auto copy = co_await noted(inner_->duplicate());
    if (!copy.has_value()) co_return copy.error();
    std::unique_ptr<Group> wrapped = std::make_unique<OneThreadGroup>(std::move(copy).value(), visitors_);
    co_return wrapped;
  }

 private:
  template <class T>
  Op<T> noted(Op<T> collective) {
    visitors_->note();
    T result = co_await std::move(collective);
    visitors_->note();
    co_return result;
  }
  std::shared_ptr<Group> inner_;
  std::shared_ptr<Visitors> visitors_;
};

class OneThreadGroups : public SharedFiles {
 protected:
  // A task's file on such a group, and the threads that called the group.
  struct Mine {
    tw_file* file = nullptr;
    std::shared_ptr<Visitors> visitors = std::make_shared<Visitors>();
  };
  Mine open_mine(tw_group* group) const {
    Mine mine;
    tw_group one_thread{std::make_shared<OneThreadGroup>(group->impl, mine.visitors)};
    mine.file = open(&one_thread);
    return mine;
  }
  static tw_request* start_write(tw_file* file, const std::string& data, std::int64_t at, tw_progress progress) {
    const tw_extent extent{const_cast<char*>(data.data()), static_cast<std::int64_t>(data.size()), at};
    tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, &extent, 1);
    access.progress = progress;
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << tw_last_error();
    return request;
  }
};

// Two tasks start requests and make no further calls, while the progress thread and another thread are active.
TEST_F(OneThreadGroups, AreAdvancedByTheirOwnThreads) {
  for (const tw_progress mode : {TW_PROGRESS_THREAD, TW_PROGRESS_POLL}) {
    std::atomic<int> started{0};
    std::atomic<bool> others_are_done{false};
    std::set<std::thread::id> team;
    std::mutex team_mutex;
    std::thread others([&] {
      started.wait(0);
      started.wait(1);
      tw_group* self = nullptr;
      tw_file* file = nullptr;
      EXPECT_EQ(tw_group_self(&self), TW_OK);
      EXPECT_EQ(tw_file_open(self, path("other").c_str(), kNew, nullptr, &file), TW_OK) << tw_last_error();
      const std::string data = "other";
      for (int i = 0; i < 100; ++i) {
        tw_request* request = start_write(file, data, 5 * i, i % 2 == 0 ? TW_PROGRESS_THREAD : TW_PROGRESS_POLL);
        EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
      }
      EXPECT_EQ(tw_file_close(&file), TW_OK);
      tw_group_free(&self);
      others_are_done = true;
      others_are_done.notify_all();
    });
    on_team(2, [&](tw_group* group, int task) {
      Mine mine = open_mine(group);
      const std::string data = text_of(task, 1000);
      tw_request* requests[8] = {};
      for (int i = 0; i < 8; ++i) requests[i] = start_write(mine.file, data, (2 * i + task) * 1000, mode);
      ++started;
      started.notify_all();
      others_are_done.wait(false);
      EXPECT_EQ(tw_request_waitall(8, requests, nullptr, nullptr), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_file_close(&mine.file), TW_OK) << tw_last_error();
      const std::lock_guard lock(team_mutex);
      team.merge(mine.visitors->all());
    });
    EXPECT_EQ(team.size(), 2u) << mode;
    EXPECT_FALSE(team.contains(others.get_id())) << mode;
    others.join();
    EXPECT_EQ(content().size(), 16u * 1000);
  }
}

// One task waits for its request, the others are in a barrier of another group.
TEST_F(OneThreadGroups, AreAdvancedWhereverTheirThreadWaits) {
  on_team(3, [&](tw_group* group, int task) {
    Mine mine = open_mine(group);
    const std::string data = text_of(task, 100);
    tw_request* request = start_write(mine.file, data, task * 100, TW_PROGRESS_DEFAULT);
    if (task == 1) {
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&mine.file), TW_OK);
  });
  EXPECT_EQ(content(), text_of(0, 100) + text_of(1, 100) + text_of(2, 100));
}

// A request may be completed by another thread, or by close, after its starter has exited.
TEST_F(OneThreadGroups, AnotherThreadMayEndWhatOneHasStarted) {
  for (const char* end : {"wait", "test", "any", "close"}) {
    on_team(2, [&](tw_group* group, int task) {
      Mine mine = open_mine(group);
      const std::string data = text_of(task, 100);
      tw_request* request = nullptr;
      std::thread([&] { request = start_write(mine.file, data, task * 100, TW_PROGRESS_DEFAULT); }).join();
      std::int64_t which = 0;
      int done = 0;
      if (*end == 'w') {
        EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
      }
      if (*end == 'a') {
        EXPECT_EQ(tw_request_waitany(1, &request, &which, nullptr), TW_OK);
      }
      while (*end == 't' && done == 0) ASSERT_EQ(tw_request_test(&request, &done, nullptr), TW_OK);
      EXPECT_EQ(tw_file_close(&mine.file), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    });
    EXPECT_EQ(content(), text_of(0, 100) + text_of(1, 100)) << end;
  }
}

// The close is these threads' first call on such a group after the open, and the only one left to advance outstanding
// transfers.
TEST_F(OneThreadGroups, ClosingEndsTransfersOfThreadsThatAreGone) {
  constexpr int kTasks = 3;
  constexpr std::int64_t kBytes = 2 << 20;
  std::vector<std::string> data;
  for (int task = 0; task < kTasks; ++task) data.emplace_back(kBytes, static_cast<char>('a' + task));
  for (int i = 0; i < 4; ++i) {
    std::thread([&] {
      on_team(kTasks, [&](tw_group* group, int task) {
        Mine mine = open_mine(group);
        const std::string& bytes = data[static_cast<std::size_t>(task)];
        tw_request* request = nullptr;
        std::thread([&] { request = start_write(mine.file, bytes, task * kBytes, TW_PROGRESS_DEFAULT); }).join();
        EXPECT_EQ(tw_file_close(&mine.file), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
      });
    }).join();
    EXPECT_TRUE(content() == data[0] + data[1] + data[2]);
  }
}

// A thread starts a request and exits, another one starts more: each can be waited for first, or the file closed.
TEST_F(OneThreadGroups, WhatThreadsThatAreGoneHaveStartedHoldsUpNoOther) {
  for (const char* end : {"last first", "close"}) {
    on_team(2, [&](tw_group* group, int task) {
      Mine mine = open_mine(group);
      const std::string data = text_of(task, 100);
      tw_request* requests[6] = {};
      const auto start = [&](int i) {
        requests[i] = start_write(mine.file, data, (2 * i + task) * 100, TW_PROGRESS_DEFAULT);
      };
      std::thread([&] { start(0); }).join();
      for (int i = 1; i < 6; ++i) start(i);
      for (int i = 5; *end == 'l' && i >= 0; --i) {
        EXPECT_EQ(tw_request_wait(&requests[i], nullptr), TW_OK) << tw_last_error();
      }
      EXPECT_EQ(tw_file_close(&mine.file), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_request_waitall(6, requests, nullptr, nullptr), TW_OK) << tw_last_error();
    });
    std::string all;
    for (int i = 0; i < 6; ++i) all += text_of(0, 100) + text_of(1, 100);
    EXPECT_EQ(content(), all) << end;
  }
}

// The shared position advances once earlier accesses are gathered, whichever thread called them.
TEST_F(OneThreadGroups, AccessesInOrderWaitForThoseOfThreadsThatAreGone) {
  on_team(2, [&](tw_group* group, int task) {
    Mine mine = open_mine(group);
    const std::string first = text_of(task, 100);
    const std::string second = text_of(task + 2, 100);
    tw_request* request = nullptr;
    std::thread([&] { EXPECT_EQ(tw_file_iwrite_all(mine.file, first.data(), 100, &request), TW_OK); }).join();
    EXPECT_EQ(tw_file_write_all(mine.file, second.data(), 100), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
    EXPECT_EQ(tw_file_close(&mine.file), TW_OK);
  });
  EXPECT_EQ(content(), text_of(0, 100) + text_of(1, 100) + text_of(2, 100) + text_of(3, 100));
}

}  // namespace
}  // namespace thalweg::test
