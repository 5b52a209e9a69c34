// Results for tests, made from a few numbers.
#pragma once

#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

inline Cell made_cell(int ranks, int64_t side = 1024, std::vector<int> grid = {}) {
  if (grid.empty()) grid = ranks % 4 == 0 ? std::vector<int>{ranks / 2, 2} : std::vector<int>{1, ranks};
  return {ranks, grid, {side, side}, "c", "warm"};
}

// Adds `times` times of about `seconds`, with relative range `spread`.
inline void add_times(Results& results, const std::string& method, const Cell& cell, double seconds,
                      const std::string& phase = "write", double spread = 0.02, int times = 7) {
  for (int i = 0; i < times; ++i) {
    TimeRecord time;
    time.method = method;
    time.phase = phase;
    time.cell = cell;
    time.cache = cell.cache;
    time.repetition = i + 1;
    time.seconds = seconds * (1 + spread * (static_cast<double>(i) / (times - 1) - 0.5));
    time.bytes = cell.bytes();
    results.times.push_back(time);
  }
}

}  // namespace tool
