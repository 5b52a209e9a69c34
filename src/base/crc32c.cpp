#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace thalweg {

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
  // ISA-L works on the bare register: the customary inversions before and after are ours. Its length is an int.
  constexpr std::size_t most_at_once = 1u << 30;
  std::uint32_t state = ~before;
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), most_at_once);
    // It does not write; its declaration only lacks the const.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(now), state);
    bytes = bytes.subspan(now);
  }
  return ~state;
}

}  // namespace thalweg
