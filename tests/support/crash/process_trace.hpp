// Runs a program under ptrace and kills it by SIGKILL when one of its threads enters a chosen system call that changes
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::test {

struct Traced {
  std::uint64_t calls = 0;  // system calls that change files, entered by all threads
  bool killed = false;      // false: the program exited by itself
  int exit_status = 0;      // -1: ended by a signal
  bool refused = false;     // the system does not permit ptrace
};

// words[0] is the path of the program. `kill_at`: number of the call, from 1; 0: no kill.
Traced run_traced(const std::vector<std::string>& words, std::uint64_t kill_at);

}  // namespace thalweg::test
