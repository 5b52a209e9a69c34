// The queue with a thread: transfers proceed while the submitter does other work. tests/conformance/queue_test.cpp
// checks the contract of all queues.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/unshared_file.hpp"
#include "storage/io_queue.hpp"
#include "support/sanitized.hpp"

namespace thalweg {
namespace {

constexpr std::chrono::seconds kLong{1};

// Storage whose operations wait until the test releases them.
class StoppedFile final : public UnsharedFile {
 public:
  Result<std::uint64_t> transfer(Direction, std::uint64_t offset, std::span<const Piece>) override {
    std::unique_lock lock(mutex_);
    threads_.push_back(std::this_thread::get_id());
    ++n_begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return n_allowed_ > 0; });
    --n_allowed_;
    ++n_ended_;
    return offset;  // identifies the transfer
  }
  void allow(int n) {
    const std::lock_guard lock(mutex_);
    n_allowed_ += n;
    changed_.notify_all();
  }
  void wait_until_begun(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, n] { return n_begun_ >= n; });
  }
  bool used(std::thread::id thread) {
    const std::lock_guard lock(mutex_);
    return std::find(threads_.begin(), threads_.end(), thread) != threads_.end();
  }

  int n_ended() {
    const std::lock_guard lock(mutex_);
    return n_ended_;
  }

  int descriptor(bool) override { return descriptor_; }
  void has_no_descriptor() { descriptor_ = -1; }

  Result<std::uint64_t> transfer_direct(Direction, std::uint64_t, std::span<const Piece>) override { return unused(); }
  Result<std::uint64_t> size() override { return unused(); }
  Status truncate(std::uint64_t) override { return unused(); }
  Status preallocate(std::uint64_t, std::uint64_t) override { return unused(); }
  Status sync() override { return unused(); }
  Result<std::uint64_t> next_data(std::uint64_t) override { return unused(); }
  Status close() override { return {}; }
  const std::string& path() const override { return path_; }

 private:
  static Status unused() { return Status::error(Code::internal, "not used by queues"); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread::id> threads_;
  int n_begun_ = 0, n_allowed_ = 0, n_ended_ = 0, descriptor_ = 0;
  std::string path_ = "stopped";
};

IoTransfer transfer_of(StoredFile& file, std::uint64_t offset) {
  IoTransfer transfer;
  transfer.file = &file;
  transfer.offset = offset;
  return transfer;
}

TEST(ThreadQueue, GoesOnWhileTheSubmitterDoesSomethingElse) {
  StoppedFile file;
  const auto queue = make_thread_queue(2);
  IoTransfer first = transfer_of(file, 11), second = transfer_of(file, 12), third = transfer_of(file, 13);

  ASSERT_TRUE(queue->submit(first));
  ASSERT_TRUE(queue->submit(second));
  file.wait_until_begun(1);
  EXPECT_FALSE(file.used(std::this_thread::get_id()));
  EXPECT_FALSE(queue->submit(third)) << "it is full";
  EXPECT_EQ(queue->in_flight(), 2u);
  queue->poll();
  EXPECT_FALSE(first.done);

  file.allow(1);
  file.wait_until_begun(2);  // the first one is complete, but not reported
  EXPECT_FALSE(first.done);
  queue->poll();
  EXPECT_TRUE(first.done);
  EXPECT_EQ(first.moved, 11u);
  EXPECT_FALSE(second.done);
  EXPECT_TRUE(queue->submit(third));

  file.allow(2);
  while (!third.done) queue->wait(kLong);
  EXPECT_EQ(second.moved, 12u);
  EXPECT_EQ(third.moved, 13u);
  EXPECT_EQ(queue->in_flight(), 0u);
}

TEST(ThreadQueue, WaitsNoLongerThanItIsTold) {
  StoppedFile file;
  const auto queue = make_thread_queue(2);
  IoTransfer transfer = transfer_of(file, 1);
  ASSERT_TRUE(queue->submit(transfer));
  queue->wait(std::chrono::microseconds(100));
  EXPECT_FALSE(transfer.done);
  file.allow(1);
  while (!transfer.done) queue->wait(kLong);
}

TEST(ThreadQueue, IsNotDestroyedBeforeWhatItHasTaken) {
  StoppedFile file;
  IoTransfer transfer = transfer_of(file, 1);
  std::thread opens([&file] {
    file.wait_until_begun(1);
    file.allow(1);
  });
  {
    const auto queue = make_thread_queue(2);
    ASSERT_TRUE(queue->submit(transfer));
  }
  EXPECT_EQ(file.n_ended(), 1);
  opens.join();
}

// A forked child lacks the thread of its parent, so no transfer would complete.
TEST(ThreadQueue, OfAForkedChildNeedsNoThread) {
  if (test::kWatchesThreads) GTEST_SKIP() << "the thread sanitizer does not follow a fork";
  StoppedFile file;
  auto queue = make_thread_queue(2);
  IoTransfer before = transfer_of(file, 1);
  file.allow(1);
  ASSERT_TRUE(queue->submit(before));
  while (!before.done) queue->wait(kLong);

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // ends a hanging child
    file.allow(1);
    IoTransfer after = transfer_of(file, 2);
    const bool good = queue->submit(after) && after.done && after.moved == 2;
    queue.reset();
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadQueue, CarriesOutAtOnceWhatNeedsNoKernel) {
  StoppedFile file;
  file.has_no_descriptor();
  file.allow(1);
  const auto queue = make_thread_queue(2);
  IoTransfer transfer = transfer_of(file, 5);
  ASSERT_TRUE(queue->submit(transfer));
  EXPECT_TRUE(transfer.done);
  EXPECT_EQ(transfer.moved, 5u);
  EXPECT_TRUE(file.used(std::this_thread::get_id()));
}

}  // namespace
}  // namespace thalweg
