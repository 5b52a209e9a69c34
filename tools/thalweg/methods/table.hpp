// The results of a run as tables for a terminal.
#pragma once

#include <string>

#include "methods/results.hpp"

namespace tool {

// A table of bandwidths for each phase, or several when the cells do not fit side by side; skipped measurements with
// reasons below. Lines have at most `columns` characters (at least 80), except for names and reasons.
std::string methods_table(const Results& results, int columns);

}  // namespace tool
