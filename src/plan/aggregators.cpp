#include "plan/aggregators.hpp"

#include <algorithm>

namespace thalweg {

std::vector<FileDomain> even_domains(FileDomain range, std::size_t n, std::uint64_t unit) {
  std::vector<FileDomain> domains(n);
  const std::uint64_t first = range.begin / unit * unit;
  const std::uint64_t share = ((range.end - first) / n / unit + 1) * unit;  // rounded up, and never 0
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t from = i * share;
    if (from >= range.end - first) break;
    domains[i].begin = std::max(range.begin, first + from);
    domains[i].end = range.end - first - from > share ? first + from + share : range.end;
  }
  return domains;
}

bool Rounds::open(std::span<const std::int64_t> next) {
  bool any = false;
  for (std::size_t i = 0; i < n(); ++i) {
    windows_[i] = {};
    if (next[i] == kNothing) continue;
    any = true;
    FileDomain& rest = domains_[i];
    const auto begin = static_cast<std::uint64_t>(next[i]);
    const std::uint64_t base = begin / block_ * block_;  // so that all but the first and last end on blocks
    windows_[i] = {begin, rest.end - base > window_bytes_ ? base + window_bytes_ : rest.end};
    rest.begin = windows_[i].end;
  }
  return any;
}

}  // namespace thalweg
