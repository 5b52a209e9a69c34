// A campaign: each seed gives a simulated group, accesses to one file, and faults. The engine carries the accesses out;
// a model of the file checks every byte.
//
// Invariants for every seed: no task hangs; each operation has one status on all tasks; a successful access moves the
// right bytes and touches no others, in the file or in memory; a failed access leaves no byte that nobody wrote; an
// error of storage is reported; afterwards the file is usable.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/campaign/scenario.hpp"

namespace thalweg::test {

struct Played {
  std::string problem;  // "": success
  std::uint64_t accesses = 0;
  std::uint64_t failed = 0;  // number of accesses that failed
  bool fault_hit = false;
  bool starved = false;
  std::map<std::string, std::uint64_t> plans;  // number of accesses by kind of plan
};
// Refuses memory between begin() and end(), in programs that can; end() returns whether an allocation was refused.
// Allocations below kMuch bytes succeed, as the simulator itself needs them.
struct Refusal {
  static constexpr std::size_t kMuch = 16384;
  void (*begin)(std::uint64_t at);
  bool (*end)();
};
Played play(const Scenario& scenario, const Refusal* memory = nullptr);

}  // namespace thalweg::test
