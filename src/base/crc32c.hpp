// CRC32C (Castagnoli), by ISA-L, which uses what the processor has.
#pragma once

#include <cstdint>

#include "base/endian.hpp"

namespace thalweg {

// CRC32C of `bytes` behind bytes whose CRC is `before`: crc32c(b, crc32c(a)) is the CRC of a followed by b.
// Of no bytes it is `before`; of "123456789" 0xE3069283.
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);

}  // namespace thalweg
