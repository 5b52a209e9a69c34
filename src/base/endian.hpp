// Explicit little-endian load and store of unsigned integers: the only way numbers go to and come from disk.
#pragma once

#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace thalweg {

using ByteView = std::span<const std::byte>;
using ByteSpan = std::span<std::byte>;

namespace detail {

template <std::unsigned_integral U>
constexpr U little_endian(U value) {
  if constexpr (std::endian::native == std::endian::little || sizeof(U) == 1) {
    return value;
  } else {
    U swapped = 0;
    for (std::size_t i = 0; i < sizeof(U); ++i) {
      swapped = static_cast<U>(swapped << 8) | static_cast<U>(value & 0xFF);
      value = static_cast<U>(value >> 8);
    }
    return swapped;
  }
}

}  // namespace detail

// Loads the first sizeof(U) bytes of `from`, which must have that many.
template <std::unsigned_integral U>
U load_le(ByteView from) {
  assert(from.size() >= sizeof(U));
  U value;
  std::memcpy(&value, from.data(), sizeof value);
  return detail::little_endian(value);
}

// Stores `value` into the first sizeof(U) bytes of `to`, which must have that many.
template <std::unsigned_integral U>
void store_le(ByteSpan to, U value) {
  assert(to.size() >= sizeof(U));
  value = detail::little_endian(value);
  std::memcpy(to.data(), &value, sizeof value);
}

}  // namespace thalweg
