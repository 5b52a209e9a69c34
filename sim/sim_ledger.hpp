// Resources used by simulated tasks. The sim group counts messages and advances clocks, the sim backend advances clocks
// for storage (docs/design/simulation.md).
#pragma once

#include <cstdint>
#include <vector>

namespace thalweg {

struct SimTask {
  double clock_ns = 0;              // virtual time
  std::uint64_t messages = 0;       // sent
  std::uint64_t bytes = 0;          // sent
  std::uint64_t most_received = 0;  // largest number of bytes received by one collective
  unsigned collectives = 0;         // collectives in which it waits
};

struct SimLedger {
  std::vector<SimTask> tasks;     // by rank; empty without costs
  std::uint64_t collectives = 0;  // completed collectives
  std::uint64_t looks = 0;        // polls for tasks whose waits are over
  bool nobody_can_go_on = false;  // unless storage completes an operation
};

}  // namespace thalweg
