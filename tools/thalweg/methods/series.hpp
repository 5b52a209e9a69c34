// Cells that form a curve: one array with more ranks, equal bytes per rank with more ranks, or arrays of several sizes.
// Derived from the cells themselves, so that any file of records can be drawn. Pure.
#pragma once

#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

enum class Scaling { strong, weak, size };
const char* scaling_name(Scaling scaling);  // "strong", "weak", "size"

struct Series {
  Scaling scaling = Scaling::strong;
  std::string label;        // common properties of its cells
  std::vector<Cell> cells;  // two or more; by ranks, or by bytes of the array
};

// Only the scaling that the run requested ("strong", "weak"), if recorded. Sizes only without other series.
std::vector<Series> series_of(const Results& results);

// The cells with times, each once, in order.
std::vector<Cell> cells_of(const Results& results);

// Whether the block of each rank is one stretch of the file, so that aggregation is pointless.
bool is_contiguous(const Cell& cell);

}  // namespace tool
