// Waiting for what takes a few instructions: threads of a team come to the same place at the same moment, as who leaves
// one call meets who comes to the next. To put one of them to sleep would cost more than the whole call, so it spins
// first; the kernel puts it to sleep where the other one does not run.
#pragma once

#include <atomic>

namespace thalweg::omp_file {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Until `word` is something else than `value`. Whoever changes it must do so sequentially consistently, and notify.
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
