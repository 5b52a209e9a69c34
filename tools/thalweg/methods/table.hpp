// The results of a run as tables for a terminal.
#pragma once

#include <string>

#include "methods/results.hpp"

namespace tool {

// For each phase a table of bandwidths, or several where the cells do not fit beside each other; what was not measured,
// and why, below. No line is longer than `columns` (at least 80), but for names and reasons.
std::string methods_table(const Results& results, int columns);

}  // namespace tool
