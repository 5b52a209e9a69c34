// All repetitions of all cells and methods, interleaved: for each repetition each cell, for each cell each method,
// which begin with another one in each repetition.
#pragma once

#include "options.hpp"
#include "ranks.hpp"
#include "records.hpp"

namespace methods {

struct Launch {
  int thread_level = 0;
  bool yields = false;
};

// Collective. Prints all records from `launch` to `end`. Throws what failed, where `where` says.
void run_campaign(const Options& options, const Ranks& ranks, const Launch& launch, Where& where);

// One JSON object that says what was built. Without MPI_Init.
void describe();

}  // namespace methods
