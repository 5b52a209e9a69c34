// Consecutive boxes of bounded size in an array: how a plain reader reads a file through a library, and how a block is
// moved in pieces. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace probe {

struct Band {
  std::vector<std::int64_t> start, count;  // elements in each dimension, from the slowest to the fastest
  std::int64_t first = 0;                  // first element of the array
  std::int64_t elements = 0;               // contiguous in the array
};

// Covers an array of these dimensions, from the slowest to the fastest, in rising order. At most `most` elements each,
// >= 1.
void for_each_band(std::span<const std::int64_t> dimensions, std::int64_t most,
                   const std::function<void(const Band&)>& see);

}  // namespace probe
