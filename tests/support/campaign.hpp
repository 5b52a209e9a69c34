// A campaign: for each seed a group of simulated tasks, accesses to one file and what goes wrong meanwhile are drawn,
// the real engine carries them out, and a model of the file says byte by byte whether that is right.
//
// What must hold for every seed: nobody hangs; each operation has one status on all tasks; what succeeds has moved the
// right bytes and touched no others, in the file or in memory; what fails has left no byte that nobody wrote; what
// storage refused is told; afterwards the file can be used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backend/fault_backend.hpp"
#include "group/sim_group.hpp"
#include "support/engine_cases.hpp"

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

struct Played {
  std::string problem;  // "": all is well
  std::uint64_t accesses = 0;
  std::uint64_t failed = 0;  // of them
  bool fault_hit = false;
  bool starved = false;
  std::map<std::string, std::uint64_t> plans;  // accesses by the kind of theirs
};
// How a program refuses memory, where it can: from begin() to end(), which says whether any was refused. What is asked
// for by fewer than kMuch bytes is taken for granted, as what the simulation itself needs.
struct Refusal {
  static constexpr std::size_t kMuch = 16384;
  void (*begin)(std::uint64_t at);
  bool (*end)();
};
Played play(const Scenario& scenario, const Refusal* memory = nullptr);

}  // namespace thalweg::test
