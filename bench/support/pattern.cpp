// Fills the rings. The prepared bytes are computed once per content and copied.
#include "support/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace bench {

namespace {

std::vector<std::byte> make_random() {
  std::vector<std::byte> bytes(kRingBytes);
  std::uint64_t state = 1;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {  // splitmix64
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    word ^= word >> 31;
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return bytes;
}

std::vector<std::byte> make_smooth() {
  std::vector<std::byte> bytes(kRingBytes);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const double value = static_cast<float>(std::sin(static_cast<double>(at) * 1e-5));
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return bytes;
}

const std::vector<std::byte>& prepared(Content content) {
  if (content == Content::smooth) {
    static const std::vector<std::byte> smooth = make_smooth();
    return smooth;
  }
  static const std::vector<std::byte> random = make_random();
  return random;
}

}  // namespace

Pattern::Pattern(std::uint64_t stream, std::size_t block_bytes, std::size_t ring_bytes, Content content)
    : stream_(stream),
      block_bytes_(block_bytes),
      mask_(std::bit_floor(std::max<std::size_t>(ring_bytes / block_bytes, 1)) - 1) {
  const std::vector<std::byte>& source = prepared(content);
  ring_.resize((mask_ + 1) * block_bytes_);
  for (std::size_t at = 0; at < ring_.size(); at += source.size())
    std::memcpy(ring_.data() + at, source.data(), std::min(source.size(), ring_.size() - at));
}

}  // namespace bench
