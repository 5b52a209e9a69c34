// Aggregators: which tasks carry out a two-phase access, what stretch of the file each of them has in hand, and how
// much memory it takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/file_domains.hpp"

namespace thalweg {

struct Aggregator {
  std::int64_t rank = 0;
  std::int64_t node = 0;
};

// How `aggregator_bytes` are shared out. Two windows are in staging at a time; as much as one comes in enclosed in
// messages, and goes out; an eighth of each window says which of its bytes are touched; what messages say of where
// bytes lie comes in for two rounds and goes out for one; and what is forwarded for other tasks comes in and goes out.
struct AggregatorBudget {
  static constexpr std::uint64_t kUnit = 4096;
  explicit AggregatorBudget(std::uint64_t aggregator_bytes);
  std::uint64_t window;     // in bytes; whole units
  std::uint64_t described;  // of what messages say
  std::uint64_t relayed;    // of what passes through a task at a time
};

// [begin, end) in `n` equal parts; borders inside lie on multiples of `unit`, so that no two aggregators touch one
// block or stripe. The last ones may be empty. May throw std::bad_alloc.
std::vector<FileDomain> even_domains(FileDomain range, std::size_t n, std::uint64_t unit);

// A window of each domain, round after round, until nobody has a byte left. Windows begin where some task has its next
// byte, so that holes of any size cost nothing, and end where some task would have too much for one round. The same on
// all tasks. Takes memory only when made.
class Rounds {
 public:
  static constexpr std::int64_t kNothing = INT64_MAX;  // no byte left
  static constexpr std::int64_t kNoLimit = INT64_MAX;
  static constexpr std::int64_t kAgain = -1;
  Rounds(std::vector<FileDomain> domains, std::uint64_t window_bytes, std::uint64_t block)
      : domains_(std::move(domains)),
        windows_(domains_.size()),
        before_(domains_.size()),
        window_bytes_(window_bytes),
        block_(block) {}

  std::size_t n() const { return domains_.size(); }
  // What is left of domain i.
  FileDomain rest(std::size_t i) const { return domains_[i]; }
  // The windows of the next round. `next[i]` is the lowest byte that any task still has in domain i, or kNothing;
  // `ends[i]` is where the window has to end at the latest, at least a block behind `next[i]`. kAgain instead: what was
  // the last window of domain i is left once more, and this round has none. False: no domain has anything left.
  bool open(std::span<const std::int64_t> next, std::span<const std::int64_t> ends);
  FileDomain window(std::size_t i) const { return windows_[i]; }
  FileDomain window_before(std::size_t i) const { return before_[i]; }  // of the round before

 private:
  FileDomain window_from(std::uint64_t begin, std::uint64_t limit, const FileDomain& rest) const;

  std::vector<FileDomain> domains_;  // what is left of them
  std::vector<FileDomain> windows_;
  std::vector<FileDomain> before_;
  const std::uint64_t window_bytes_;
  const std::uint64_t block_;
};

}  // namespace thalweg
