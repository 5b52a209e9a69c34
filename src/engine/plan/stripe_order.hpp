// StripeOrder: the bytes of a striped file in the order of aggregators, each of which owns the stripes of its own
// targets. Two-phase I/O has a domain of this order for each aggregator, and windows, extents and messages with
// positions of this order in place of offsets; only transfers use offsets.
#pragma once

#include <cstdint>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/plan/file_domains.hpp"

namespace thalweg {

// Whether `n` aggregators can divide `targets` targets so that each has its own, or share them evenly.
constexpr bool suits_targets(std::uint64_t n, std::uint64_t targets) {
  return n > 0 && (n % targets == 0 || targets % n == 0);
}
// The largest such number up to `most`, which is at least 1.
std::size_t most_suiting(std::size_t most, std::uint64_t targets);

// Stripe s of the file belongs to aggregator s % n. All stripes of an aggregator lie one behind the other, in file
// order, and those of aggregator 0 come first.
class StripeOrder {
 public:
  StripeOrder() = default;  // off: in file order
  // `range`: of the access. Off where positions would not fit.
  StripeOrder(FileDomain range, std::size_t n, std::uint64_t stripe_bytes);
  bool on() const { return stripe_ > 0; }

  // One for each aggregator, equally long. May throw std::bad_alloc, like extents().
  std::vector<FileDomain> domains() const;
  // The extents of a list at their positions, cut at stripes; not sorted.
  std::vector<Extent> extents(const ExtentList& list) const;
  // Appends the parts of an extent at `position`, at their offsets.
  void append_in_file(Extent at_position, std::vector<Extent>& to) const;
  // End position of the bytes of domain i that lie below file offset `offset`.
  std::uint64_t end_in(std::size_t i, std::uint64_t offset) const;

 private:
  std::uint64_t position(std::uint64_t offset) const;
  std::uint64_t row() const { return stripe_ * n_; }  // a stripe of each aggregator

  std::uint64_t stripe_ = 0;
  std::uint64_t n_ = 1;
  std::uint64_t first_ = 0;   // offset of the first row
  std::uint64_t domain_ = 0;  // bytes of a domain
};

}  // namespace thalweg
