// What a seed of a campaign says: the group, the accesses to one file, and what goes wrong meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/sim_group.hpp"
#include "support/engine_cases.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

// Accesses of one direction that are outstanding together.
struct Batch {
  Direction direction = Direction::write;
  bool blocking = false;  // one after the other, each waited for at once
  std::vector<Case> accesses;
  TaskRank wrong_task = -1;  // gives wrong arguments for the first of them
};

struct Scenario {
  std::uint64_t seed = 0;
  SimOptions world;
  std::string hints;
  std::size_t queue_depth = 4;
  std::vector<Batch> batches;
  std::optional<FaultRule> fault{};
  std::uint64_t starves_at = 0;  // which request for much memory is refused while accesses are under way; 0: none
  bool spoils = false;  // a byte of the file is changed behind the engine's back: for a test of the campaign itself
};
std::ostream& operator<<(std::ostream& out, const Scenario& what);

Scenario draw_scenario(std::uint64_t seed);

}  // namespace thalweg::test
