// Threads that wait for each other, for tests of concurrent events.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace thalweg::test {

class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  // Returns true when all threads have come, false after a time limit.
  bool come() {
    std::unique_lock lock(mutex_);
    ++here_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return here_ >= expected_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const int expected_;
  int here_ = 0;
};

}  // namespace thalweg::test
