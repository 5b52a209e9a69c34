// Cells that make a curve: the same array on more ranks, the same bytes for each rank on more ranks, or arrays of
// several sizes. Found from the cells themselves, so that any file of records can be drawn. Pure.
#pragma once

#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

enum class Scaling { strong, weak, size };
const char* scaling_name(Scaling scaling);  // "strong", "weak", "size"

struct Series {
  Scaling scaling = Scaling::strong;
  std::string label;        // what its cells have in common
  std::vector<Cell> cells;  // two or more; by ranks, or by bytes of the array
};

// What the run asked for ("strong", "weak") is taken alone, where it says so. Sizes only where there is no other.
std::vector<Series> series_of(const Results& results);

// Of all times, each once, in order.
std::vector<Cell> cells_of(const Results& results);

// Whether the block of each rank is one stretch of the file, so that there is nothing to bring together.
bool is_contiguous(const Cell& cell);

}  // namespace tool
