// Size statistics of the logical files of a multifile, or the streams of a vpfile: as JSON and as text.
#pragma once

#include <array>
#include <cstdint>

#include "text.hpp"

namespace tool {

struct StreamSizes {
  int64_t n = 0, empty = 0, min = 0, max = 0, total = 0;
  std::array<int64_t, 31> classes = {};  // [0]: 0 bytes; [i]: below 4^i bytes, from 4^(i-1); the last is unbounded

  void add(int64_t bytes, int64_t times = 1);
};

Json histogram(const StreamSizes& sizes);
void print_histogram(const Json& histogram);

// One line for each item of `list`: number and bytes; for a range the numbers of all.
void print_each(const char* thing, int width, const Json& list);

}  // namespace tool
