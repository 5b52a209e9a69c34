// Sums and products that say when they do not fit.
#pragma once

#include <concepts>

namespace thalweg {

// *result = a + b; true when that does not fit into T (then *result is wrapped).
template <std::integral T>
[[nodiscard]] constexpr bool add_overflow(T a, T b, T* result) {
  return __builtin_add_overflow(a, b, result);
}

// *result = a * b; true when that does not fit into T (then *result is wrapped).
template <std::integral T>
[[nodiscard]] constexpr bool mul_overflow(T a, T b, T* result) {
  return __builtin_mul_overflow(a, b, result);
}

}  // namespace thalweg
