// What simulated tasks have used so far. The sim group counts what they send and keeps their clocks, the sim backend
// lets them wait for storage (docs/design/simulation.md).
#pragma once

#include <cstdint>
#include <vector>

namespace thalweg {

struct SimTask {
  double clock_ns = 0;              // virtual time
  std::uint64_t messages = 0;       // sent
  std::uint64_t bytes = 0;          // sent
  std::uint64_t most_received = 0;  // bytes that one collective brought it
  unsigned collectives = 0;         // that it waits in
};

struct SimLedger {
  std::vector<SimTask> tasks;     // by rank; none where nothing is counted
  std::uint64_t collectives = 0;  // that were finished
  std::uint64_t looks = 0;        // how often the world has looked for tasks whose waits are over
  bool nobody_can_go_on = false;  // without storage that completes something
};

}  // namespace thalweg
