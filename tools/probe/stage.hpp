// What one launch measures: one repetition in one cell, with all phases of a method, timed and checked one after the
// other, or the storage's own limit; or the network.
#pragma once

#include <string>

#include "method.hpp"
#include "options.hpp"
#include "print_record.hpp"
#include "ranks.hpp"

namespace probe {

// The current step of this process, for messages about failures. Null: outside a method, cell or phase.
struct Where {
  Json method, cell, phase;
};

struct Repetition {
  const Options& options;
  const Ranks& ranks;
  const Cell& cell;
  int number;          // 0 is the warm-up, which is not timed
  bool is_first;       // records facts
  std::string folder;  // all ranks can use it
  Where& where;        // updated at each step
};

// Collective. Creates an empty folder for the method, and removes it.
void run_stage(const Repetition& repetition, const MethodInfo& info, Method& method);
// Collective. Each rank moves as many bytes as its block between its memory and a file of its own that
// exists and is open, in one call. No method moves its bytes faster.
void measure_limit(const Repetition& repetition);
// Collective. Measures messages of these ranks, as predictions need the network, or the memory that the ranks share.
// Prints one record.
void measure_network(const Ranks& ranks);

}  // namespace probe
