#include "compute.hpp"

namespace probe {

void compute(std::int64_t turns, const std::function<void()>& between) {
  constexpr std::int64_t kSlices = 256;
  static volatile double result = 0;  // keeps the loop from being optimised away
  double x = result + 0.5;
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    const std::int64_t end = turns * (slice + 1) / kSlices;
    for (std::int64_t i = turns * slice / kSlices; i < end; ++i) x = x * 0.999999 + 1e-6;
    between();
  }
  result = x;
}

}  // namespace probe
