// Measures messages of these ranks, as predictions need the network, or the memory that the ranks share.
#pragma once

#include "ranks.hpp"

namespace probe {

// Collective. Prints one record.
void measure_network(const Ranks& ranks);

}  // namespace probe
