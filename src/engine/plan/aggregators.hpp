// Aggregators: which tasks carry out a two-phase access, which window of the file each of them moves in a round, and
// how much memory it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/plan/file_domains.hpp"

namespace thalweg {

struct Aggregator {
  std::int64_t rank = 0;
  std::int64_t node = 0;
};

// How `aggregator_bytes` are divided. In memory at a time are two windows in staging; the inline data of one window
// coming in, and of one going out; a bit for each byte of a window (Coverage); encoded extents of two rounds coming in,
// and of one going out; and the messages that a node relay passes on, in and out.
struct AggregatorBudget {
  static constexpr std::uint64_t kUnit = 4096;
  explicit AggregatorBudget(std::uint64_t aggregator_bytes);
  std::uint64_t window;   // bytes of a window; whole units
  std::uint64_t encoded;  // bytes of encoded extents, of one round and direction
  std::uint64_t relayed;  // bytes that pass through a relay at a time
};

// [begin, end) in `n` parts, equal but for the last ones, which may be empty; borders inside lie on multiples of `unit`,
// so that no two aggregators touch one block or stripe. `targets` of the file; 0: not told. May throw std::bad_alloc.
std::vector<FileDomain> even_domains(FileDomain range, std::size_t n, std::uint64_t unit, std::uint64_t targets = 0);

// Proposal of a task for the windows of the next round. The smallest number that any task proposes counts
// (Reduction::min).
class RoundProposal {
 public:
  static constexpr std::int64_t kNone = INT64_MAX;
  explicit RoundProposal(std::size_t n_domains) : numbers_(2 * n_domains + 1, kNone) {}
  // The lowest byte of domain i that is not moved yet. An aggregator that has to repeat its window proposes the begin
  // of that window.
  std::int64_t& lowest(std::size_t i) { return numbers_[2 * i]; }
  std::int64_t lowest(std::size_t i) const { return numbers_[2 * i]; }
  // Latest end of the window, at least a block behind `lowest`.
  std::int64_t& end(std::size_t i) { return numbers_[2 * i + 1]; }
  std::int64_t end(std::size_t i) const { return numbers_[2 * i + 1]; }
  // Number of exchanges for the replies to the round before. The largest number of all tasks counts, so its complement
  // to kNone is stored.
  void set_reply_exchanges(std::int64_t n) { numbers_.back() = kNone - n; }
  std::int64_t reply_exchanges() const { return kNone - numbers_.back(); }
  std::vector<std::int64_t>& numbers() { return numbers_; }

 private:
  std::vector<std::int64_t> numbers_;
};

// A window of each domain, round after round, until no task has a byte left. Windows begin where some task has its next
// byte, so that holes of any size cost nothing, and end where some task would have too much for one round. Equal on all
// tasks. Takes memory only when made.
//
// `stripe`: where not 0, stripe k of the file belongs to domain k modulo n, whatever the range of the access: so each
// page has the aggregator that it has in every other access. Then all domains are the whole range.
class Rounds {
 public:
  // Windows that no task ends before end on multiples of `unit`, the block or stripe of the file, where it fits into a
  // window; others on multiples of `block`, which divides it.
  Rounds(std::vector<FileDomain> domains, std::uint64_t window_bytes, std::uint64_t block, std::uint64_t unit = 0,
         std::uint64_t stripe = 0)
      : domains_(std::move(domains)),
        windows_(domains_.size()),
        before_(domains_.size()),
        block_(block),
        unit_(unit > 0 && unit <= window_bytes && unit % block == 0 ? unit : block),
        window_bytes_(window_bytes / unit_ * unit_),
        stripe_(stripe) {}

  std::size_t n() const { return domains_.size(); }
  FileDomain rest(std::size_t i) const { return domains_[i]; }  // of domain i: the part that no window has had yet
  // The lowest offset of the list that is left of domain i; kNone: there is none.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t lowest_in(const ExtentList* list, std::size_t i) const;
  // Where windows of domain i that begin at `lowest` have to end.
  std::uint64_t limit(std::size_t i, std::uint64_t lowest) const;
  // Whether the proposal repeats the last window of domain i. Then the next round has no window there, since tasks have
  // to propose an end for it first.
  bool repeats(const RoundProposal& all, std::size_t i) const {
    return static_cast<std::uint64_t>(all.lowest(i)) < domains_[i].begin;
  }
  bool at_end() const {  // no domain has a part left
    return std::ranges::all_of(domains_, [](const FileDomain& rest) { return rest.empty(); });
  }
  // Whether one window holds each domain.
  bool fit_one_round() const;
  // Proposes the whole of each domain.
  void propose_all(RoundProposal& proposal) const;
  // Opens the windows of the next round. False: no domain has anything left.
  bool open(const RoundProposal& all);
  FileDomain window(std::size_t i) const { return windows_[i]; }
  FileDomain window_before(std::size_t i) const { return before_[i]; }  // of the round before

 private:
  FileDomain window_from(std::uint64_t begin, std::uint64_t limit, std::uint64_t end) const;

  std::vector<FileDomain> domains_;  // what is left of them
  std::vector<FileDomain> windows_;
  std::vector<FileDomain> before_;
  const std::uint64_t block_;
  const std::uint64_t unit_;
  const std::uint64_t window_bytes_;
  const std::uint64_t stripe_;
};

}  // namespace thalweg
