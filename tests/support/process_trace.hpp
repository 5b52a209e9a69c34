// A program that is killed at one of its system calls that change files: it runs under ptrace and dies by SIGKILL when
// one of its threads is about to make that call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::test {

struct Traced {
  std::uint64_t calls = 0;  // that change files, made or begun by all threads
  bool killed = false;      // else it ended by itself
  int exit_status = 0;      // where it did; -1: by a signal
  bool refused = false;     // this system lets nobody be traced
};

// words[0] is the path of the program. `kill_at`: the number of the call, from 1; 0: it runs to its end.
Traced run_traced(const std::vector<std::string>& words, std::uint64_t kill_at);

}  // namespace thalweg::test
