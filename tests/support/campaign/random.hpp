// Random numbers from a seed, equal with every standard library.
#pragma once

#include <cstdint>

namespace thalweg::test {

// SplitMix64: cheap to construct, as each of a thousand tasks draws the data of all others.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// An independent sequence for every `what`.
inline Random random_of(std::uint64_t seed, std::uint64_t what) {
  Random mixed(seed * 1000003 + what);
  return Random(mixed());
}
inline std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

}  // namespace thalweg::test
