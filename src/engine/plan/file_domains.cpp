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

// Around the border that is searched: fewer bytes than wanted below `low`, at least as many below `high`.
struct Bracket {
  Mark low;
  Mark high;
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
    const Bracket blocks = narrow({last, end_}, wanted, block_);
    const bool may_be_low = fits(blocks.low, wanted, last);
    const bool may_be_high = fits(blocks.high, wanted, last);
    if (may_be_low && (!may_be_high || distance(blocks.low, wanted) <= distance(blocks.high, wanted)))
      return blocks.low;
    return may_be_high ? blocks.high : narrow(blocks, wanted, 1).high;
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

  // Narrows the bracket until no multiple of `grain` lies between its ends. Two guesses that take the bytes for evenly
  // spread and one bisection take turns: few steps for most accesses, and never more than three for each bit.
  Bracket narrow(Bracket bracket, Wide wanted, std::uint64_t grain) const {
    for (int step = 0;; ++step) {
      const std::uint64_t low = bracket.low.offset;
      const std::uint64_t high = bracket.high.offset;
      const std::uint64_t first = low - low % grain + grain;
      const std::uint64_t last = high - 1 - (high - 1) % grain;
      if (first > last) return bracket;
      double share = 0.5;
      if (step % 3 != 2) {
        share = static_cast<double>(wanted - bracket.low.bytes) /
                static_cast<double>(bracket.high.bytes - bracket.low.bytes);
      }
      const auto gap = static_cast<std::uint64_t>(static_cast<double>(high - low) * share);
      const std::uint64_t offset = std::clamp(low + gap - (low + gap) % grain, first, last);
      const Mark found = mark(offset);
      (found.bytes >= wanted ? bracket.high : bracket.low) = found;
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
