// Powers of 1024, in bytes, and the largest offset.
#pragma once

#include <cstdint>

namespace thalweg {

inline constexpr std::uint64_t kKi = 1024;
inline constexpr std::uint64_t kMi = kKi * 1024;
inline constexpr std::uint64_t kGi = kMi * 1024;
inline constexpr std::uint64_t kTi = kGi * 1024;

inline constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 63) - 1;  // of a file: off_t is signed

}  // namespace thalweg
