#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>

namespace thalweg {

namespace {

#if defined(__x86_64__)

// Below this length eight-byte CRC instructions are faster than the setup of ISA-L.
constexpr std::size_t kShort = 128;

const bool kHasInstruction = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}();

__attribute__((target("sse4.2"))) std::uint32_t crc_of_short(ByteView bytes, std::uint32_t state) {
  std::uint64_t wide = state;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  if (left >= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, at, 4);
    narrow = __builtin_ia32_crc32si(narrow, word);
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*at));
  return narrow;
}

#else

constexpr std::size_t kShort = 0;
constexpr bool kHasInstruction = false;
std::uint32_t crc_of_short(ByteView /*bytes*/, std::uint32_t state) { return state; }

#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
  if (bytes.size() <= kShort && kHasInstruction) return ~crc_of_short(bytes, ~before);
  // ISA-L works on the bare register, so the customary inversions before and after are done here. Its length is an
  // int.
  constexpr std::size_t kMostAtOnce = 1u << 30;
  std::uint32_t state = ~before;
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), kMostAtOnce);
    // ISA-L does not write; its declaration only lacks the const.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(now), state);
    bytes = bytes.subspan(now);
  }
  return ~state;
}

}  // namespace thalweg
