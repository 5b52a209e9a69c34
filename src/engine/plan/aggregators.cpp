#include "engine/plan/aggregators.hpp"

#include <algorithm>
#include <numeric>

namespace thalweg {

AggregatorBudget::AggregatorBudget(std::uint64_t aggregator_bytes)
    : window(std::max(aggregator_bytes / 64 * 11 / kUnit * kUnit, kUnit)),
      encoded(aggregator_bytes / 16),
      relayed(aggregator_bytes / 32) {}

std::vector<FileDomain> even_domains(FileDomain range, std::size_t n, std::uint64_t unit, std::uint64_t targets) {
  constexpr std::uint64_t kLeastStripe = std::uint64_t{1} << 16;
  std::vector<FileDomain> domains(n);
  const std::uint64_t first = range.begin / unit * unit;
  std::uint64_t units = (range.end - first - 1) / n / unit + 1;  // rounded up, and never 0
  // Large units may be stripes. Where their number in a domain has a factor in common with that of the targets, all
  // aggregators would move from one target to the next at the same time. Where targets are not told, 30 suits most
  // numbers of them, and adds up to 5 stripes: too many for a small domain, which gets an odd number.
  if (targets < 2) targets = units < 48 ? 2 : 30;
  while (units >= 16 && unit >= kLeastStripe && std::gcd(units, targets) != 1) ++units;
  const std::uint64_t share = units * unit;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t from = i * share;
    if (from >= range.end - first) break;
    domains[i].begin = std::max(range.begin, first + from);
    domains[i].end = range.end - first - from > share ? first + from + share : range.end;
  }
  return domains;
}

FileDomain Rounds::window_from(std::uint64_t begin, std::uint64_t limit, std::uint64_t end) const {
  const std::uint64_t whole = begin / unit_ * unit_;
  const std::uint64_t base = begin / block_ * block_;
  FileDomain window{begin, end - whole > window_bytes_ ? whole + window_bytes_ : end};
  if (limit < window.end) window.end = std::min(std::max(limit / block_ * block_, base + block_), end);
  return window;
}

bool Rounds::fit_one_round() const {
  return stripe_ == 0 && std::ranges::all_of(domains_, [&](const FileDomain& all) {
           return all.empty() || all.end - all.begin / unit_ * unit_ <= window_bytes_;
         });
}

void Rounds::propose_all(RoundProposal& proposal) const {
  for (std::size_t i = 0; i < n(); ++i) {
    proposal.lowest(i) = domains_[i].empty() ? RoundProposal::kNone : static_cast<std::int64_t>(domains_[i].begin);
    proposal.end(i) = RoundProposal::kNone;
  }
}

std::uint64_t Rounds::lowest_in(const ExtentList* list, std::size_t i) const {
  if (list == nullptr) return kNone;
  const auto extents = list->extents();
  for (std::uint64_t from = domains_[i].begin; from < domains_[i].end;) {
    const std::size_t at = list->first_beyond(from);
    if (at == extents.size()) return kNone;
    const std::uint64_t lowest = std::max(extents[at].offset, from);
    if (lowest >= domains_[i].end) return kNone;
    const std::uint64_t stripe = stripe_ == 0 ? i : lowest / stripe_;
    if (stripe % n() == i) return lowest;
    from = (stripe + (i + n() - stripe % n()) % n()) * stripe_;
  }
  return kNone;
}

std::uint64_t Rounds::limit(std::size_t i, std::uint64_t lowest) const {
  return stripe_ == 0 ? domains_[i].end : std::min(domains_[i].end, (lowest / stripe_ + 1) * stripe_);
}

bool Rounds::open(const RoundProposal& all) {
  bool any = false;
  std::swap(windows_, before_);
  for (std::size_t i = 0; i < n(); ++i) {
    FileDomain& rest = domains_[i];
    windows_[i] = {};
    if (all.lowest(i) == RoundProposal::kNone) continue;
    any = true;
    const auto lowest = static_cast<std::uint64_t>(all.lowest(i));
    if (repeats(all, i)) {
      rest.begin = lowest;
      continue;
    }
    windows_[i] = window_from(lowest, static_cast<std::uint64_t>(all.end(i)), limit(i, lowest));
    rest.begin = windows_[i].end;
  }
  return any;
}

}  // namespace thalweg
