#include "plan/file_domains.hpp"

#include <algorithm>

namespace thalweg {

namespace {

__extension__ using Wide = unsigned __int128;  // the bytes of all lists may be more than a file can hold

// Looks for borders between the lowest begin and the highest end of all lists.
class Cutter {
 public:
  Cutter(std::span<const ExtentList* const> lists, std::uint64_t block) : lists_(lists), block_(block) {
    for (const ExtentList* list : lists) {
      if (list->extents().empty()) continue;
      range_.begin = range_.empty() ? list->summary().begin : std::min(range_.begin, list->summary().begin);
      range_.end = std::max(range_.end, list->summary().end);
    }
    total_ = bytes_before(range_.end);
  }
  const FileDomain& range() const { return range_; }
  Wide total() const { return total_; }

  Wide bytes_before(std::uint64_t offset) const {
    Wide sum = 0;
    for (const ExtentList* list : lists_) sum += list->bytes_before(offset);
    return sum;
  }

  // Lowest offset below which `wanted` bytes lie; looked for behind `from`.
  std::uint64_t offset_of(Wide wanted, std::uint64_t from) const {
    std::uint64_t low = from;
    std::uint64_t high = range_.end;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (bytes_before(middle) >= wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // `border`, or the multiple of the block beside it that is nearer to `wanted` bytes, if it is within half a block of
  // them and leaves something on both sides.
  std::uint64_t rounded(std::uint64_t border, Wide wanted, std::uint64_t last) const {
    if (block_ < 2 || border % block_ == 0) return border;
    const std::uint64_t down = border - border % block_;
    const std::uint64_t up = down + block_;
    const bool may_go_down = fits(down, wanted, last);
    const bool may_go_up = fits(up, wanted, last);
    if (may_go_down && may_go_up) return distance(down, wanted) <= distance(up, wanted) ? down : up;
    return may_go_down ? down : may_go_up ? up : border;
  }

 private:
  Wide distance(std::uint64_t border, Wide wanted) const {
    const Wide bytes = bytes_before(border);
    return bytes < wanted ? wanted - bytes : bytes - wanted;
  }
  bool fits(std::uint64_t border, Wide wanted, std::uint64_t last) const {
    if (border <= last || border >= range_.end || distance(border, wanted) > block_ / 2) return false;
    const Wide bytes = bytes_before(border);
    return bytes > bytes_before(last) && bytes < total_;
  }

  std::span<const ExtentList* const> lists_;
  std::uint64_t block_;
  FileDomain range_;
  Wide total_ = 0;
};

std::size_t shares(Wide total, const DomainRules& rules) {
  const Wide least = std::max<std::uint64_t>(1, rules.least_bytes);
  const Wide most = std::max<Wide>(1, total / least);
  return most < rules.workers ? static_cast<std::size_t>(most) : rules.workers;
}

}  // namespace

std::vector<FileDomain> cut_domains(std::span<const ExtentList* const> lists, const DomainRules& rules) {
  const Cutter cutter(lists, rules.block);
  const FileDomain& range = cutter.range();
  std::vector<FileDomain> domains(rules.workers, FileDomain{range.end, range.end});
  if (range.empty() || domains.empty()) return domains;

  const std::size_t n = shares(cutter.total(), rules);
  std::size_t made = 0;
  std::uint64_t last = range.begin;
  for (std::size_t i = 1; i < n; ++i) {
    const Wide wanted = (cutter.total() * i + n - 1) / n;
    std::uint64_t border = cutter.offset_of(wanted, last);
    if (border > last && border < range.end) border = cutter.rounded(border, wanted, last);
    // Where many lists overlap a byte may be several shares wide: then there are fewer domains.
    if (border <= last || border >= range.end) continue;
    domains[made++] = {last, border};
    last = border;
  }
  domains[made] = {last, range.end};
  return domains;
}

}  // namespace thalweg
