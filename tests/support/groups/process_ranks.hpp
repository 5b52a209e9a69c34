// Ranks that are processes, without MPI: forked children connected by sockets. A test can kill one of them
// while the others live, which MPI launchers prevent.
//
//     ProcessRanks ranks(2, [](tw_group* group, Steps& steps) {
//       ... steps.reach(1); ...
//     });
//     ranks.steps(0).wait_for(1);
//     ranks.kill(0);
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "thalweg/group.h"

namespace thalweg::test {

// Shared memory between a rank and the test.
struct Steps {
  std::atomic<int> reached{0};
  std::atomic<int> allowed{0};
  std::array<std::atomic<std::int32_t>, 16> results{};  // values that the rank reports to the test

  void reach(int step) { reached.store(step); }
  void allow(int step) { allowed.store(step); }
  // Both wait at most a minute: then wait_for() returns false, and the rank exits with status 9.
  bool wait_for(int step) const;
  void wait_until_allowed(int step) const;
};

class ProcessRanks {
 public:
  using Body = std::function<void(tw_group* group, Steps& steps)>;
  // Each rank runs `body` in a process of its own and exits with status 0. The group uses callbacks.
  ProcessRanks(int ranks, const Body& body);
  ~ProcessRanks();  // kills the remaining processes
  ProcessRanks(const ProcessRanks&) = delete;
  ProcessRanks& operator=(const ProcessRanks&) = delete;

  Steps& steps(int rank) { return steps_[rank]; }
  void kill(int rank);
  // Returns the exit status of a rank; -1: killed by a signal; -2: still running after a minute.
  int join(int rank);

 private:
  std::vector<pid_t> processes_;
  Steps* steps_;
};

}  // namespace thalweg::test
