// BriefLock: a lock for a few instructions, which threads of a team ask for at the same moment: who leaves one call
// meets who comes to the next. A std::mutex puts the second one to sleep at once, which costs more than the whole call.
#pragma once

#include <atomic>

namespace thalweg::omp_file {

class BriefLock {
 public:
  void lock() {
    while (held_.exchange(1, std::memory_order_acquire) != 0) held_.wait(1, std::memory_order_relaxed);  // spins first
  }
  // By any thread. Sequentially consistent: either this thread sees who is about to sleep, or that one sees the lock
  // free.
  void unlock() {
    held_.store(0, std::memory_order_seq_cst);
    held_.notify_one();
  }

 private:
  std::atomic<int> held_{0};
};

}  // namespace thalweg::omp_file
