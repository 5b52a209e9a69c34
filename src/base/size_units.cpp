#include "base/size_units.hpp"

namespace thalweg {

std::string exact_size(std::uint64_t bytes) {
  if (bytes % kKi != 0 || bytes == 0) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr const char* kUnits[] = {" KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  for (bytes /= kKi; bytes % kKi == 0 && unit < 3; ++unit) bytes /= kKi;
  return std::to_string(bytes) + kUnits[unit];
}

}  // namespace thalweg
