// The data of benchmarks, fast to generate and verify: block i of a stream is a piece of a ring of prepared bytes whose
// first 8 bytes are replaced by a stamp unique to the block and stream.
//
// The ring is larger than the caches of a core, like the arrays of a program, unless a smaller one is requested.
#ifndef BENCH_SUPPORT_PATTERN_HPP
#define BENCH_SUPPORT_PATTERN_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

enum class Content {
  random,  // incompressible
  smooth   // a smooth field: doubles that hold values of single precision
};

inline constexpr std::size_t kRingBytes = std::size_t{16} << 20;

class Pattern {
 public:
  // block_bytes: at least 8; the ring has a power of two of blocks, at most ring_bytes, at least one block.
  Pattern(std::uint64_t stream, std::size_t block_bytes, std::size_t ring_bytes = kRingBytes,
          Content content = Content::random);

  std::size_t block_bytes() const { return block_bytes_; }

  // Block i. Valid until the next use of its place in the ring.
  const std::byte* block(std::uint64_t i) {
    std::byte* place = ring_.data() + (i & mask_) * block_bytes_;
    const std::uint64_t stamp = stamp_of(i);
    __builtin_memcpy(place, &stamp, sizeof stamp);
    return place;
  }

  // Whether the stamp in `data` belongs to block i: fast enough for the timed part.
  bool stamped(std::uint64_t i, const std::byte* data) const {
    std::uint64_t stamp = 0;
    __builtin_memcpy(&stamp, data, sizeof stamp);
    return stamp == stamp_of(i);
  }

  // Whether all bytes of `data` belong to block i.
  bool equals(std::uint64_t i, const std::byte* data) const {
    const std::byte* place = ring_.data() + (i & mask_) * block_bytes_;
    return stamped(i, data) && __builtin_memcmp(place + 8, data + 8, block_bytes_ - 8) == 0;
  }

 private:
  std::uint64_t stamp_of(std::uint64_t i) const { return (stream_ << 40) ^ (i * 0x9E3779B97F4A7C15U); }

  std::uint64_t stream_;
  std::size_t block_bytes_;
  std::size_t mask_;  // blocks of the ring - 1; their number is a power of two
  std::vector<std::byte> ring_;
};

}  // namespace bench

#endif
