// ExtentRun: extents that follow each other at equal distances, in the file and in memory.
#pragma once

#include <cstdint>

#include "access/extent_list.hpp"

namespace thalweg {

// `count` extents, the next one always so much further on.
struct ExtentRun {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t offset_step = 0, address_step = 0;  // modulo 2^64
  Extent at(std::uint64_t i) const {
    return {reinterpret_cast<std::byte*>(address + i * address_step), bytes, offset + i * offset_step};
  }
};

}  // namespace thalweg
