// Powers of 1024, in bytes; sizes as text; the largest offset.
#pragma once

#include <cstdint>
#include <string>

namespace thalweg {

inline constexpr std::uint64_t kKi = 1024;
inline constexpr std::uint64_t kMi = kKi * 1024;
inline constexpr std::uint64_t kGi = kMi * 1024;
inline constexpr std::uint64_t kTi = kGi * 1024;

// Exact, in the largest unit that gives a whole number: "8 MiB", "196 KiB", "1000 bytes".
std::string exact_size(std::uint64_t bytes);

inline constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 63) - 1;  // largest offset in a file: off_t is signed

}  // namespace thalweg
