// Element-wise reduction: one definition for all kinds of group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "group/group.hpp"

namespace thalweg {

inline std::int64_t reduce_one(std::int64_t a, std::int64_t b, Reduction how) {
  switch (how) {
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    // Wraps modulo 2^64, as MPI does in practice: the caller must exclude overflow.
    case Reduction::sum:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    case Reduction::bit_or:
      return a | b;
  }
  return a;
}

// into[i] = into[i] (how) other[i]; both equally long.
inline void reduce_into(std::span<std::int64_t> into, std::span<const std::int64_t> other, Reduction how) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = reduce_one(into[i], other[i], how);
}

}  // namespace thalweg
