// A campaign: for each seed a group of simulated tasks, accesses to one file and what goes wrong meanwhile are drawn,
// the real engine carries them out, and a model of the file says byte by byte whether that is right.
//
// What must hold for every seed: nobody hangs; each operation has one status on all tasks; what succeeds has moved the
// right bytes and touched no others, in the file or in memory; what fails has left no byte that nobody wrote; what
// storage refused is told; afterwards the file can be used.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/scenario.hpp"

namespace thalweg::test {

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
