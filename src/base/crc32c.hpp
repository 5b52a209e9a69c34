// CRC32C (Castagnoli), by ISA-L, which selects the instructions of the processor.
#pragma once

#include <cstdint>

#include "base/endian.hpp"

namespace thalweg {

// Continues `before`, the CRC of the preceding bytes: crc32c(b, crc32c(a)) is the CRC of a followed by b.
// An empty `bytes` gives `before`; "123456789" gives 0xE3069283.
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);

}  // namespace thalweg
