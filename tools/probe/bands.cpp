// Bands: slices of the first dimension that must be cut, at one index of each slower dimension.
#include "bands.hpp"

#include <algorithm>

namespace probe {

namespace {

// The dimension to cut: all faster ones together have at most `most` elements.
std::size_t cut_dimension(std::span<const std::int64_t> dimensions, std::int64_t most, std::int64_t& slice) {
  std::size_t at = dimensions.size() - 1;
  slice = 1;
  while (at > 0 && dimensions[at] <= most / slice) slice *= dimensions[at--];
  return at;
}

// Advances to the next band. False after the last.
bool advance(std::span<const std::int64_t> dimensions, std::size_t cut, Band& band) {
  band.first += band.elements;
  band.start[cut] += band.count[cut];
  for (std::size_t d = cut; band.start[d] == dimensions[d]; --d) {
    if (d == 0) return false;
    band.start[d] = 0;
    ++band.start[d - 1];
  }
  return true;
}

}  // namespace

void for_each_band(std::span<const std::int64_t> dimensions, std::int64_t most,
                   const std::function<void(const Band&)>& see) {
  if (dimensions.empty() || std::ranges::find(dimensions, 0) != dimensions.end()) return;
  std::int64_t slice = 1;
  const std::size_t cut = cut_dimension(dimensions, most, slice);
  Band band;
  band.start.assign(dimensions.size(), 0);
  band.count.assign(dimensions.begin(), dimensions.end());
  std::fill_n(band.count.begin(), cut, 1);
  do {
    band.count[cut] = std::min(most / slice, dimensions[cut] - band.start[cut]);
    band.elements = band.count[cut] * slice;
    see(band);
  } while (advance(dimensions, cut, band));
}

}  // namespace probe
