// Shared by the tests of the format room: a valid header, random bytes, and flipped bits.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "base/crc32c.hpp"
#include "multifile/format/index.hpp"

namespace thalweg::format {

using Bytes = std::vector<std::byte>;
inline constexpr std::uint64_t kFileBytes = 1 << 20;

inline FileHeader sound_header() {
  FileHeader h;
  h.id = {{0xA0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xAF}, 1};
  h.n_logical = 100;
  h.n_local = 30;
  h.first_rank = 40;
  h.n_physical = 3;
  h.session_offset = 4096;
  h.created_seconds = 1700000000;
  return h;
}

template <class Container>
Bytes to_bytes(const Container& container) {
  return Bytes(container.begin(), container.end());
}

// Calls `accepts` with each single bit of `bytes` flipped; it must return false every time.
inline void expect_every_bit_matters(Bytes bytes, const std::function<bool(ByteView)>& accepts) {
  ASSERT_TRUE(accepts(bytes)) << "the bytes must be sound before they are damaged";
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(accepts(bytes)) << "bit " << bit % 8 << " of byte " << bit / 8;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

// Calls `accepts` with every shorter length; it must return false without reading beyond (checked by the address
// sanitizer).
inline void expect_no_prefix_accepted(const Bytes& bytes, const std::function<bool(ByteView)>& accepts) {
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Bytes exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_FALSE(accepts(exact)) << length << " bytes";
  }
}

// Stores a value at an offset; the crc is invalid until resealed.
template <class U>
void poke(Bytes& bytes, std::size_t offset, U value) {
  store_le<U>(ByteSpan(bytes).subspan(offset), value);
}

}  // namespace thalweg::format
