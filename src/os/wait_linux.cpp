#include "os/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <thread>

namespace thalweg {

namespace {

timespec to_timespec(std::chrono::microseconds time) {
  return {static_cast<time_t>(time.count() / 1'000'000), static_cast<long>(time.count() % 1'000'000 * 1000)};
}

}  // namespace

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel compares the four bytes of the atomic itself");

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::microseconds limit) {
  const timespec timeout = to_timespec(limit);
  // Every failure (changed value, signal, timeout) means the same: check again.
  (void)::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  (void)::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void yield_core() { (void)::sched_yield(); }

void sleep_for(std::chrono::microseconds time) {
  timespec rest = to_timespec(time);
  while (::nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

int usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const unsigned all = std::thread::hardware_concurrency();  // more cores than cpu_set_t can hold
  return all == 0 ? 1 : static_cast<int>(all);
}

}  // namespace thalweg
