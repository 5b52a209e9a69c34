// A bijection of 64-bit numbers in which a few changed bits of the input change about half the bits of the output.
// Source: Steele, Lea, Flood 2014, the mixing function of SplitMix64.
#pragma once

#include <cstdint>

namespace thalweg {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace thalweg
