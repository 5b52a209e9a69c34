// All repetitions of all cells and methods, interleaved: for each repetition each cell, for each cell each method, in
// an order that is drawn anew.
#pragma once

#include "options.hpp"
#include "ranks.hpp"
#include "stage.hpp"

namespace probe {

// Collective. Prints all records from `launch` to `end`. Throws the failure; `where` says at which step.
void run_campaign(const Options& options, const Ranks& ranks, Where& where);

// Collective. Measures messages of these ranks, as predictions need the network, or the memory that the ranks share.
// Prints one record.
void measure_network(const Ranks& ranks);

// Prints one JSON object that lists the built methods. Without MPI_Init.
void describe();

}  // namespace probe
