#include "access/extent_list.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <string>
#include <utility>

namespace thalweg {

namespace {

// Sorting by radix needs tables of 6 * 16 KiB at most; for lists of this length they are below 6 bytes per extent.
constexpr std::size_t kLongList = std::size_t{1} << 14;
constexpr int kMostDigitBits = 11;

// The part of an offset that one pass sorts by.
struct Digit {
  int shift = 0;
  std::uint64_t mask = 0;
  std::array<std::uint64_t, std::size_t{1} << kMostDigitBits> place{};  // counts, then where the next one goes
  std::size_t of(std::uint64_t key) const { return static_cast<std::size_t>((key >> shift) & mask); }
};

// Digits of equal width over the bits in which the offsets differ, lowest first. Offsets are taken from the lowest one,
// so that neither their common alignment nor a far away begin costs a pass.
std::vector<Digit> digits_of(std::span<const Extent> extents, std::uint64_t begin) {
  std::uint64_t varying = 0;
  for (const Extent& extent : extents) varying |= extent.bytes == 0 ? 0 : extent.offset - begin;
  const int low = varying == 0 ? 0 : std::countr_zero(varying);
  const int bits = std::max(1, static_cast<int>(std::bit_width(varying >> low)));
  const int passes = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const int width = (bits + passes - 1) / passes;
  std::vector<Digit> digits(static_cast<std::size_t>(passes));
  for (int i = 0; i < passes; ++i) {
    digits[static_cast<std::size_t>(i)].shift = low + i * width;
    digits[static_cast<std::size_t>(i)].mask = (std::uint64_t{1} << width) - 1;
  }
  for (const Extent& extent : extents) {
    if (extent.bytes == 0) continue;
    for (Digit& digit : digits) ++digit.place[digit.of(extent.offset - begin)];
  }
  for (Digit& digit : digits) {
    std::uint64_t sum = 0;
    for (std::uint64_t& place : digit.place) sum += std::exchange(place, sum);
  }
  return digits;
}

// Stable, linear; the extents of 0 bytes stay behind in `extents`.
std::vector<Extent> sorted_by_radix(std::span<const Extent> extents, const ExtentSummary& summary) {
  std::vector<Digit> digits = digits_of(extents, summary.begin);
  std::vector<Extent> sorted(summary.n);
  std::vector<Extent> other(digits.size() > 1 ? summary.n : 0);
  std::span<const Extent> from = extents;
  // The last pass must end in `sorted`.
  bool into_sorted = digits.size() % 2 == 1;
  for (Digit& digit : digits) {
    std::vector<Extent>& to = into_sorted ? sorted : other;
    for (const Extent& extent : from) {
      if (extent.bytes != 0) to[digit.place[digit.of(extent.offset - summary.begin)]++] = extent;
    }
    from = to;
    into_sorted = !into_sorted;
  }
  return sorted;
}

std::vector<Extent> without_empty(std::span<const Extent> extents, std::size_t n) {
  std::vector<Extent> kept;
  kept.reserve(n);
  for (const Extent& extent : extents) {
    if (extent.bytes != 0) kept.push_back(extent);
  }
  return kept;
}

}  // namespace

Result<ExtentList> ExtentList::of(std::span<const Extent> extents) {
  ExtentList list;
  TW_ASSIGN_OR_RETURN(list.summary_, summarise(extents));
  try {
    list.fill(extents);
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "no memory to order " + std::to_string(extents.size()) +
                                              " extents of a list; 8 bytes are needed for each when they are given by "
                                              "rising offsets, else 64");
  }
  return list;
}

void ExtentList::fill(std::span<const Extent> extents) {
  if (summary_.sorted && summary_.n == extents.size()) {
    view_ = extents;
  } else if (!summary_.sorted && summary_.n >= kLongList) {
    sorted_ = sorted_by_radix(extents, summary_);
    view_ = sorted_;
  } else {
    sorted_ = without_empty(extents, summary_.n);
    if (!summary_.sorted) {
      std::stable_sort(sorted_.begin(), sorted_.end(),
                       [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
    }
    view_ = sorted_;
  }
  index_view();
}

void ExtentList::index_view() {
  if (view_.size() < 2) return;
  before_.resize(view_.size());
  std::uint64_t sum = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < view_.size(); ++i) {
    before_[i] = sum;
    const std::uint64_t from = std::max(end, view_[i].offset);
    if (from != view_[i].offset) disjoint_ = false;
    end = std::max(end, view_[i].end());
    sum += end - std::min(from, end);
  }
  if (disjoint_) return;
  highest_.resize(view_.size());
  end = 0;
  for (std::size_t i = 0; i < view_.size(); ++i) highest_[i] = end = std::max(end, view_[i].end());
}

std::uint64_t ExtentList::bytes_before(std::uint64_t offset) const {
  if (view_.empty() || offset <= view_.front().offset) return 0;
  // Of each extent count what lies behind all earlier ones: such stretches are disjoint and rise with the extents.
  const std::size_t at = std::min(first_beyond(offset), view_.size() - 1);
  const std::uint64_t from = std::max(view_[at].offset, at == 0 ? 0 : highest(at - 1));
  const std::uint64_t to = std::min(offset, highest(at));
  return (at == 0 ? 0 : before_[at]) + (to > from ? to - from : 0);
}

std::size_t ExtentList::first_beyond(std::uint64_t offset) const {
  std::size_t low = 0;
  std::size_t high = view_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (highest(middle) > offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace thalweg
