// How long messages of these ranks take: what a prediction needs of the network, or of the memory that they share.
#pragma once

#include "ranks.hpp"

namespace methods {

// Collective. Prints one record.
void measure_network(const Ranks& ranks);

}  // namespace methods
