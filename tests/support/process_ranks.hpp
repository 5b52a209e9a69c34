// Ranks that are processes, without MPI: forked children that are connected to rank 0 by sockets. One of them can be
// killed while the others live on, which no launcher of MPI allows.
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

// What a rank and the test tell each other, in memory that both have.
struct Steps {
  std::atomic<int> reached{0};
  std::atomic<int> allowed{0};
  std::array<std::atomic<std::int32_t>, 16> results{};  // whatever the rank wants the test to know

  void reach(int step) { reached.store(step); }
  void allow(int step) { allowed.store(step); }
  // Both give up after a minute: false, and the rank ends with status 9.
  bool wait_for(int step) const;
  void wait_until_allowed(int step) const;
};

class ProcessRanks {
 public:
  using Body = std::function<void(tw_group* group, Steps& steps)>;
  // Each rank runs `body` in a process of its own and ends with status 0. The group is one of callbacks.
  ProcessRanks(int ranks, const Body& body);
  ~ProcessRanks();  // kills those that are left
  ProcessRanks(const ProcessRanks&) = delete;
  ProcessRanks& operator=(const ProcessRanks&) = delete;

  Steps& steps(int rank) { return steps_[rank]; }
  void kill(int rank);
  // The exit status of a rank, -1: it died by a signal, -2: it did not end within a minute.
  int join(int rank);

 private:
  std::vector<pid_t> processes_;
  Steps* steps_;
};

}  // namespace thalweg::test
