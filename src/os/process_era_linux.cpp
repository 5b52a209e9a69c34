#include "os/process_era.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <vector>

namespace thalweg {

std::atomic<ProcessEra> detail::process_era{0};

void begin_process_era() { detail::process_era.fetch_add(1, std::memory_order_relaxed); }

namespace {

constinit std::mutex closing_mutex;  // never destroyed: it has nothing to destroy

// The descriptors that children close; guarded by closing_mutex. Never destroyed: files may be closed, and children
// made, while the process ends.
std::vector<int>& closed_in_children() {
  static auto* all = new std::vector<int>;
  return *all;
}

// The child must get a consistent list and an unlocked mutex: it has no other thread to unlock it.
void before_fork() { closing_mutex.lock(); }
void in_parent() { closing_mutex.unlock(); }
void in_child() {
  for (const int descriptor : closed_in_children()) (void)::close(descriptor);
  closed_in_children().clear();
  begin_process_era();
  closing_mutex.unlock();
}

// Runs when the library is loaded: handlers registered during a fork would not be called by it.
[[gnu::constructor(101)]] void watch_forks() { (void)::pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace

NoFork::NoFork() { closing_mutex.lock(); }
NoFork::~NoFork() { closing_mutex.unlock(); }
void NoFork::close_in_children(int descriptor) { closed_in_children().push_back(descriptor); }
void NoFork::forget(int descriptor) { std::erase(closed_in_children(), descriptor); }

}  // namespace thalweg
