// What threads of our own are called and where they run.
#pragma once

#include <signal.h>

namespace thalweg {

// At most 15 characters; what tools show.
void name_this_thread(const char* name);
// False: there is no such core, or this process may not use it.
bool bind_this_thread(int core);

// True: what any thread of this process stores from here on comes after what this thread has stored before, and this
// thread sees what they stored earlier, without a barrier on their side. False: nothing is known. Takes milliseconds.
bool all_threads_see_all_stores();

// Short sleeps of this thread take no longer than they are told to; else the kernel adds up to 50 us to each.
void sleep_exactly();

// While one is there, threads that the calling thread makes get no signals.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace thalweg
