// Bytes and lengths that depend on the sender, so that each receiver can compute what it should get.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "group/group.hpp"

namespace thalweg::test {

// splitmix64: maps each seed to a different, well mixed number.
inline std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15U;
  seed = (seed ^ (seed >> 30U)) * 0xBF58476D1CE4E5B9U;
  seed = (seed ^ (seed >> 27U)) * 0x94D049BB133111EBU;
  return seed ^ (seed >> 31U);
}

// A pattern of sender and step; every 4 KiB contain their offset. Uses memcpy, which stays fast under sanitizers.
inline Bytes bytes_of(TaskRank rank, std::uint64_t step, std::size_t length) {
  Bytes bytes(length);
  const std::uint64_t seed = mixed(static_cast<std::uint64_t>(rank) * 1000003U + step);
  const std::size_t start = std::min<std::size_t>(length, 256);
  for (std::size_t i = 0; i < start; ++i) bytes[i] = static_cast<std::byte>((seed >> (i % 8 * 8)) + i * 31);
  for (std::size_t done = start; done < length; done *= 2) {
    std::memcpy(bytes.data() + done, bytes.data(), std::min(done, length - done));
  }
  for (std::size_t i = 4096; i + sizeof i <= length; i += 4096) std::memcpy(bytes.data() + i, &i, sizeof i);
  return bytes;
}

// Differs between tasks; every third task has length 0.
inline std::size_t length_of(TaskRank rank, std::uint64_t step, std::size_t longest) {
  const std::uint64_t number = mixed(static_cast<std::uint64_t>(rank) * 7919U + step * 104729U + 1);
  return number % 3 == 0 ? 0 : number % (longest + 1);
}

inline Gathered parts_for(TaskRank size, std::uint64_t step, std::size_t longest) {
  Gathered parts;
  for (TaskRank r = 0; r < size; ++r) {
    parts.begin.push_back(parts.data.size());
    const Bytes part = bytes_of(r, step, length_of(r, step, longest));
    parts.data.insert(parts.data.end(), part.begin(), part.end());
  }
  parts.begin.push_back(parts.data.size());
  return parts;
}

inline bool same(ByteView a, ByteView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// All ranks of a small group; the first, last and middle ranks of a large one.
inline std::vector<TaskRank> some_ranks(TaskRank size) {
  std::vector<TaskRank> ranks;
  for (TaskRank r = 0; r < size; ++r) {
    if (size <= 16 || r == 0 || r == 1 || r == size / 2 || r == size - 1) ranks.push_back(r);
  }
  return ranks;
}

}  // namespace thalweg::test
