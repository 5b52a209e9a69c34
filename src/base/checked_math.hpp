// Sums and products that report overflow.
#pragma once

#include <concepts>

namespace thalweg {

// *result = a + b; returns true on overflow of T (*result is wrapped then).
template <std::integral T>
[[nodiscard]] constexpr bool add_overflow(T a, T b, T* result) {
  return __builtin_add_overflow(a, b, result);
}

// *result = a * b; returns true on overflow of T (*result is wrapped then).
template <std::integral T>
[[nodiscard]] constexpr bool mul_overflow(T a, T b, T* result) {
  return __builtin_mul_overflow(a, b, result);
}

}  // namespace thalweg
