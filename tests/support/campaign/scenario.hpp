// A scenario drawn from a seed: the group, the accesses to one file, and the faults.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/sim_group.hpp"
#include "support/engine/engine_cases.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

// Accesses of one direction that are outstanding together.
struct Batch {
  Direction direction = Direction::write;
  bool blocking = false;  // each access completes before the next starts
  std::vector<Case> accesses;
  TaskRank wrong_task = -1;  // passes wrong arguments to the first access
};

struct Scenario {
  std::uint64_t seed = 0;
  SimOptions world;
  std::string hints;
  std::size_t queue_depth = 4;
  std::vector<Batch> batches;
  std::optional<FaultRule> fault{};
  std::uint64_t starves_at = 0;  // number of the large allocation that fails during accesses; 0: none
  bool spoils = false;           // changes a byte of the file behind the engine, to test the campaign itself
};
std::ostream& operator<<(std::ostream& out, const Scenario& what);

Scenario draw_scenario(std::uint64_t seed);

}  // namespace thalweg::test
