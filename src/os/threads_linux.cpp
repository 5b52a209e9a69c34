#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/threads.hpp"

namespace thalweg {

void name_this_thread(const char* name) { (void)::pthread_setname_np(::pthread_self(), name); }

bool bind_this_thread(int number) {
  if (number < 0 || number >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(number, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// The kernel refuses the second command where cores are kept free of its ticks.
bool all_threads_see_all_stores() {
  const auto barrier = [](int command) { return ::syscall(__NR_membarrier, command, 0U, 0) == 0; };
  const bool registered = barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return (registered && barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) || barrier(MEMBARRIER_CMD_GLOBAL);
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  ::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void sleep_exactly() { (void)::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace thalweg
