// Names, cores and signals of the library's threads.
#pragma once

#include <signal.h>

namespace thalweg {

// At most 15 characters; shown by system tools.
void name_this_thread(const char* name);
// `number`: of a core. False: it does not exist, or this process may not use it.
bool bind_this_thread(int number);

// A barrier on all threads of this process at once. True: their later stores come after the earlier stores of this
// thread, which sees all their earlier ones. False: nothing is known. Takes milliseconds.
bool all_threads_see_all_stores();

// Makes short sleeps of this thread exact; by default the kernel adds up to 50 us to each.
void sleep_exactly();

// While it exists, threads made by the calling thread get no signals.
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
