// The measurements of a run: from options to launches, each with its number of ranks and cells. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results.hpp"

namespace tool {

struct PlanOptions {
  std::vector<int> ranks;           // ascending, measured numbers
  std::vector<int> grid;            // for a single number of ranks; empty: as square as possible
  std::vector<std::string> shapes;  // as given: "4096" (a side), "4096x2048", "256x256x256"
  std::vector<std::string> orders;  // "c", "f"
  bool strong = true, weak = true;
  std::string cache = "warm";
};

// A curve: one task with increasing numbers of ranks.
struct PlannedSeries {
  std::string scaling;  // "strong", "weak", or "none" for a single number of ranks
  std::string name;     // "4096x4096, c"
  std::vector<Cell> cells;
};

struct LaunchPlan {
  int ranks = 1;
  std::vector<Cell> cells;  // each once, even if it belongs to several series
};

struct RunPlan {
  std::vector<PlannedSeries> series;
  std::vector<LaunchPlan> launches;  // ascending in ranks
  int64_t most_bytes = 0;            // of an array
};

// 1, 2, 4, ... and `most` itself.
std::vector<int> doubling_ranks(int most);
// "1,2,4", or "4," for a list of one; ascending, without repeats. Throws Failure (usage).
std::vector<int> parse_ranks(const std::string& text);
// Parses "2x3" as numbers, at least 1 each. The message names `what`. Throws Failure (usage).
std::vector<int64_t> parse_extents(const std::string& text, const char* what);

// Throws Failure (usage): the product of the grid differs from the ranks, more than three dimensions, an array of 2^62
// bytes.
RunPlan make_plan(const PlanOptions& options);

// The program's --cell argument.
std::string cell_argument(const Cell& cell);

}  // namespace tool
