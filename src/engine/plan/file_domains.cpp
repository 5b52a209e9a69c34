#include "engine/plan/file_domains.hpp"

#include <algorithm>

namespace thalweg {

namespace {

__extension__ using Wide = unsigned __int128;  // the bytes of all lists may be more than a file can hold

// An offset and the bytes of all lists below it.
struct Mark {
  std::uint64_t offset = 0;
  Wide bytes = 0;
};

// Searches borders between the lowest begin and the highest end of all lists.
class Cutter {
 public:
  Cutter(std::span<const ExtentList* const> lists, std::uint64_t block)
      : lists_(lists), block_(std::max<std::uint64_t>(block, 1)) {
    FileDomain range;
    for (const ExtentList* list : lists) {
      if (list->extents().empty()) continue;
      range.begin = range.empty() ? list->summary().begin : std::min(range.begin, list->summary().begin);
      range.end = std::max(range.end, list->summary().end);
    }
    begin_ = mark(range.begin);
    end_ = mark(range.end);
  }
  const Mark& begin() const { return begin_; }
  const Mark& end() const { return end_; }

  // The lowest offset below which `wanted` bytes lie, or the multiple of the block beside it that is nearer to `wanted`
  // bytes, if it is within half a block of them and leaves something on both sides. `last`: the border before this one.
  Mark border(Wide wanted, const Mark& last) const {
    if (last.bytes >= wanted) return last;
    Mark low = last;
    Mark high = end_;
    narrow(low, high, wanted, block_);
    const bool may_be_low = fits(low, wanted, last);
    const bool may_be_high = fits(high, wanted, last);
    if (may_be_low && (!may_be_high || distance(low, wanted) <= distance(high, wanted))) return low;
    if (!may_be_high) narrow(low, high, wanted, 1);
    return high;
  }

 private:
  Mark mark(std::uint64_t offset) const {
    Wide sum = 0;
    for (const ExtentList* list : lists_) sum += list->bytes_before(offset);
    return {offset, sum};
  }
  static Wide distance(const Mark& border, Wide wanted) {
    return border.bytes < wanted ? wanted - border.bytes : border.bytes - wanted;
  }
  bool fits(const Mark& border, Wide wanted, const Mark& last) const {
    return border.offset % block_ == 0 && border.bytes > last.bytes && border.bytes < end_.bytes &&
           distance(border, wanted) <= block_ / 2;
  }

  // Narrows the range around the border, fewer bytes than wanted below `low` and at least as many below `high`, until
  // no multiple of `grain` lies between the two. Two guesses that take the bytes for evenly spread and one bisection
  // take turns: few steps for most accesses, and never more than three for each bit.
  void narrow(Mark& low, Mark& high, Wide wanted, std::uint64_t grain) const {
    for (int step = 0;; ++step) {
      const std::uint64_t first = low.offset - low.offset % grain + grain;
      const std::uint64_t last = high.offset - 1 - (high.offset - 1) % grain;
      if (first > last) return;
      double share = 0.5;
      if (step % 3 != 2) share = static_cast<double>(wanted - low.bytes) / static_cast<double>(high.bytes - low.bytes);
      const auto gap = static_cast<std::uint64_t>(static_cast<double>(high.offset - low.offset) * share);
      const std::uint64_t guess = low.offset + gap;
      const Mark found = mark(std::clamp(guess - guess % grain, first, last));
      (found.bytes >= wanted ? high : low) = found;
    }
  }

  std::span<const ExtentList* const> lists_;
  std::uint64_t block_;
  Mark begin_;
  Mark end_;
};

}  // namespace

std::vector<FileDomain> cut_domains(std::span<const ExtentList* const> lists, std::size_t workers,
                                    std::uint64_t block) {
  const Cutter cutter(lists, block);
  const Mark& end = cutter.end();
  std::vector<FileDomain> domains(workers, FileDomain{end.offset, end.offset});
  if (end.bytes == 0 || domains.empty()) return domains;

  const std::size_t n = end.bytes < workers ? static_cast<std::size_t>(end.bytes) : workers;
  std::size_t made = 0;
  Mark last = cutter.begin();
  for (std::size_t i = 1; i < n; ++i) {
    const Mark border = cutter.border((end.bytes * i + n - 1) / n, last);
    // Where many lists overlap one byte may be several shares: then there are fewer domains.
    if (border.offset <= last.offset || border.offset >= end.offset) continue;
    domains[made++] = {last.offset, border.offset};
    last = border;
  }
  domains[made] = {last.offset, end.offset};
  return domains;
}

}  // namespace thalweg
