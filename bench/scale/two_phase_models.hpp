// Two-phase writes as the literature has them, on the simulated network and storage: what their ranks send each other, as
// ROMIO does it, without ROMIO's code.
#ifndef BENCH_SCALE_TWO_PHASE_MODELS_HPP
#define BENCH_SCALE_TWO_PHASE_MODELS_HPP

#include <cstdint>

#include "scale/machine.hpp"

namespace bench {

// Common to all ways: ranks of many nodes, which write pieces into one file.
struct ManyNodes {
  std::int64_t nodes = 1;
  thalweg::SimulatedPieces pieces;

  std::int64_t tasks() const { return nodes * kTasksPerNode; }
};

//   by_rank  each rank sends to the aggregators; one aggregator per node (Thakur, Gropp, Lusk 1999; ROMIO's default)
//   by_node  the ranks of a node send to one of them, and these play two-phase (Kang et al. 2020)
enum class TwoPhaseWay { by_rank, by_node };
struct CountedCost : Cost {
  double messages = 0;  // of all tasks
};
CountedCost two_phase_model(const ManyNodes& what, TwoPhaseWay way);

// The library's own write, with the hint node_relay as given, simulated; and its number of messages by a formula, which
// holds where relays are off.
CountedCost two_phase_of_library(const ManyNodes& what, const std::string& node_relay);
double messages_of_library(const ManyNodes& what);

}  // namespace bench

#endif
