#include "os/process_era.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <vector>

namespace thalweg {

std::atomic<ProcessEra> detail::process_era{0};

void begin_process_era() { detail::process_era.fetch_add(1, std::memory_order_relaxed); }

namespace {

struct Closing {
  std::mutex mutex;
  std::vector<int> descriptors;  // guarded by mutex
};

// Never destroyed: files may be closed, and children made, while the process ends.
Closing& closing() {
  static auto* all = new Closing;
  return *all;
}

// The child must get a consistent list and an unlocked mutex: it has no other thread to unlock it.
void before_fork() { closing().mutex.lock(); }
void in_parent() { closing().mutex.unlock(); }
void in_child() {
  for (const int descriptor : closing().descriptors) (void)::close(descriptor);
  closing().descriptors.clear();
  begin_process_era();
  closing().mutex.unlock();
}

// Runs when the library is loaded: handlers registered during a fork would not be called by it.
[[gnu::constructor(101)]] void watch_forks() { (void)::pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace

NoFork::NoFork() { closing().mutex.lock(); }
NoFork::~NoFork() { closing().mutex.unlock(); }
void NoFork::close_in_children(int descriptor) { closing().descriptors.push_back(descriptor); }
void NoFork::forget(int descriptor) { std::erase(closing().descriptors, descriptor); }

}  // namespace thalweg
