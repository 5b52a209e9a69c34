// Waiting for a few instructions of another thread: threads of a team arrive at the same place simultaneously, for
// instance at the end of one call and the start of the next. A sleep would cost more than the whole call, so a thread
// spins first; it sleeps in the kernel when the other thread does not run.
#pragma once

#include <atomic>

namespace thalweg::omp_file {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Waits until `word` differs from `value`. The writer must use a sequentially consistent store, and notify.
template <class T>
void wait_while(const std::atomic<T>& word, T value) {
  constexpr int kSpins = 256;  // a few microseconds
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != value) return;
    relax();
  }
  word.wait(value, std::memory_order_acquire);
}

class BriefLock {
 public:
  void lock() {
    while (held_.exchange(1, std::memory_order_acquire) != 0) wait_while(held_, 1);
  }
  // Any thread may unlock. Sequentially consistent: either this thread sees a thread about to sleep, or that thread
  // sees the lock free.
  void unlock() {
    held_.store(0, std::memory_order_seq_cst);
    held_.notify_one();
  }

 private:
  std::atomic<int> held_{0};
};

}  // namespace thalweg::omp_file
