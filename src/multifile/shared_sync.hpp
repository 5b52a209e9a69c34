// One sync of a file serves all threads that asked for it before it began.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "storage/backend.hpp"

namespace thalweg {

class SharedSync {
 public:
  Status sync(StoredFile& file) {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = begun_ + 1;  // a running sync may miss bytes of the caller
    while (done_ < mine) {
      if (done_ < begun_) {
        changed_.wait(lock);
      } else {
        run(file, lock);
      }
    }
    return failure_;
  }

 private:
  void run(StoredFile& file, std::unique_lock<std::mutex>& lock) {
    const std::uint64_t number = ++begun_;
    lock.unlock();
    const Status status = file.sync();
    lock.lock();
    if (failure_.ok()) failure_ = status;
    done_ = number;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;  // guarded by mutex_
  std::uint64_t done_ = 0;   // guarded by mutex_; begun_, or one less while a sync runs
  Status failure_;           // guarded by mutex_; a failed sync stays failed
};

}  // namespace thalweg
