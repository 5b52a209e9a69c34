// All repetitions of all cells and methods, interleaved: for each repetition each cell, for each cell each method,
// starting with a different method in each repetition.
#pragma once

#include "options.hpp"
#include "ranks.hpp"
#include "records.hpp"

namespace probe {

struct Launch {
  int thread_level = 0;
  bool yields = false;
};

// Collective. Prints all records from `launch` to `end`. Throws the failure; `where` says at which step.
void run_campaign(const Options& options, const Ranks& ranks, const Launch& launch, Where& where);

// Prints one JSON object that lists the built methods. Without MPI_Init.
void describe();

}  // namespace probe
