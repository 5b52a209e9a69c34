// Aggregators: which tasks carry out a two-phase access, and what stretch of the file each of them has in hand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/file_domains.hpp"

namespace thalweg {

struct Aggregator {
  std::int64_t rank = 0;
  std::int64_t node = 0;
};

// [begin, end) in `n` equal parts; borders inside lie on multiples of `unit`, so that no two aggregators touch one
// block or stripe. The last ones may be empty.
std::vector<FileDomain> even_domains(FileDomain range, std::size_t n, std::uint64_t unit);

// A window of each domain, round after round, until nobody has a byte left. Windows begin where some task has its next
// byte, so that holes of any size cost nothing. The same on all tasks.
class Rounds {
 public:
  static constexpr std::int64_t kNothing = INT64_MAX;
  Rounds(std::vector<FileDomain> domains, std::uint64_t window_bytes, std::uint64_t block)
      : domains_(std::move(domains)), windows_(domains_.size()), window_bytes_(window_bytes), block_(block) {}

  std::size_t n() const { return domains_.size(); }
  // What is left of domain i.
  FileDomain rest(std::size_t i) const { return domains_[i]; }
  // The windows of the next round; `next[i]` is the lowest byte that any task still has in domain i, or kNothing.
  // False: there is none in any.
  bool open(std::span<const std::int64_t> next);
  FileDomain window(std::size_t i) const { return windows_[i]; }

 private:
  std::vector<FileDomain> domains_;  // what is left of them
  std::vector<FileDomain> windows_;
  const std::uint64_t window_bytes_;
  const std::uint64_t block_;
};

}  // namespace thalweg
