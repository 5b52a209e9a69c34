#include "base/size_units.hpp"

#include <fmt/core.h>

namespace thalweg {

std::string exact_size(std::uint64_t bytes) {
  if (bytes % kKi != 0 || bytes == 0) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  constexpr const char* kUnits[] = {" KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  for (bytes /= kKi; bytes % kKi == 0 && unit < 3; ++unit) bytes /= kKi;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

}  // namespace thalweg
