// Numbers as the descriptions of patterns and plans show them. Without a locale: the same text everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace thalweg {

// `value` >= 0 with `digits` decimals: "1.20".
inline std::string decimal_text(double value, int digits) {
  double scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  std::string text = std::to_string(static_cast<std::uint64_t>(std::llround(value * scale)));
  const auto n = static_cast<std::size_t>(digits);
  if (text.size() <= n) text.insert(0, n + 1 - text.size(), '0');
  return text.insert(text.size() - n, 1, '.');
}

// `value` in the largest of `units` that it reaches, each `step` times the one before: "1.5 KiB".
template <std::size_t N>
std::string scaled_text(double value, double step, const char* const (&units)[N]) {
  std::size_t unit = 0;
  for (; unit + 1 < N && value >= step; ++unit) value /= step;
  return decimal_text(value, 1) + " " + units[unit];
}

}  // namespace thalweg
