// The storage's own limit: each rank moves as many bytes as its block between its memory and a file of its own that
// exists and is open, in large calls. No method moves its bytes faster.
#pragma once

#include <string>

#include "options.hpp"
#include "ranks.hpp"

namespace probe {

// Collective. Prints `limit` records of writing and reading, unless `repetition` is 0. Verifies the bytes. Throws Failed.
void measure_limit(const Options& options, const Ranks& ranks, const Cell& cell, int repetition,
                   const std::string& folder);

}  // namespace probe
