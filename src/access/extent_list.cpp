#include "access/extent_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "base/checked_math.hpp"
#include "base/size_units.hpp"

namespace thalweg {

namespace {

// The address as a number: comparing pointers of an unchecked list would be undefined.
std::uint64_t address(const Extent& extent) { return reinterpret_cast<std::uintptr_t>(extent.memory); }

Status bad_extent(const Extent& extent, std::size_t number, std::uint64_t sum_before) {
  const std::string name = fmt::format("extent {} ({} bytes at offset {})", number, extent.bytes, extent.offset);
  if (extent.memory == nullptr) {
    return Status::error(Code::invalid_argument, "{} has no memory; only an extent of 0 bytes may have none", name);
  }
  std::uint64_t end = 0;
  if (add_overflow(extent.offset, extent.bytes, &end) || end > kMostOffset) {
    return Status::error(Code::out_of_range, "{} ends beyond 2^63-1, the largest offset of a file", name);
  }
  return Status::error(Code::out_of_range, "{} and the {} bytes of those before it are more than 2^63-1 bytes", name,
                       sum_before);
}

// Counts runs, and detects whether they have equal lengths and distances, which is known once the next run begins or
// the list ends.
class RunWatch {
 public:
  void begin_run(std::uint64_t offset) {
    end_run();
    if (runs_ > 0) {
      const std::uint64_t distance = offset - start_;
      if (runs_ == 1) stride_ = distance;
      if (offset <= start_ || distance != stride_) regular_ = false;
    }
    ++runs_;
    start_ = offset;
    run_bytes_ = 0;
  }
  void add(std::uint64_t bytes) { run_bytes_ += bytes; }
  void end_run() {
    if (runs_ == 0) return;
    if (runs_ == 1) first_bytes_ = run_bytes_;
    if (run_bytes_ != first_bytes_) regular_ = false;
  }
  std::uint64_t runs() const { return runs_; }
  std::uint64_t stride() const { return regular_ && runs_ > 1 ? stride_ : 0; }

 private:
  std::uint64_t runs_ = 0, start_ = 0, run_bytes_ = 0;
  std::uint64_t first_bytes_ = 0, stride_ = 0;
  bool regular_ = true;
};

}  // namespace

Result<ExtentSummary> summarise(std::span<const Extent> extents) {
  ExtentSummary all;
  RunWatch runs;
  std::uint64_t last_offset = 0;
  std::uint64_t last_end = 0;
  std::uint64_t last_memory = 0;  // end of the last piece of memory
  for (const Extent& extent : extents) {
    if (extent.bytes == 0) continue;
    // The sum of two numbers below 2^63 does not overflow.
    if (extent.memory == nullptr || ((extent.offset | extent.bytes) >> 63) != 0 || extent.end() > kMostOffset ||
        all.bytes + extent.bytes > kMostOffset) {
      return bad_extent(extent, static_cast<std::size_t>(&extent - extents.data()), all.bytes);
    }
    const bool first = all.n == 0;
    const bool file_goes_on = !first && extent.offset == last_end;
    const bool memory_goes_on = !first && address(extent) == last_memory;
    if (!file_goes_on) runs.begin_run(extent.offset);
    runs.add(extent.bytes);
    const bool close = !first && extent.offset >= last_end && extent.offset - last_end <= kCloseBy;
    all.close_bytes += extent.bytes + (close ? extent.offset - last_end : 0);
    if (!close && all.close_runs < ~std::uint32_t{0}) ++all.close_runs;
    if (!file_goes_on || !memory_goes_on) ++all.pieces;
    if (extent.offset < last_offset) all.sorted = false;
    if (extent.offset < last_end) all.disjoint = false;  // while sorted, the last end is the highest
    all.begin = first ? extent.offset : std::min(all.begin, extent.offset);
    all.end = std::max(all.end, extent.end());
    ++all.n;
    all.bytes += extent.bytes;
    last_offset = extent.offset;
    last_end = extent.end();
    last_memory = address(extent) + extent.bytes;
  }
  runs.end_run();
  all.runs = runs.runs();
  all.stride = runs.stride();
  if (!all.sorted) all.disjoint = false;
  return all;
}

namespace {

// Sorting by radix needs tables of at most 6 * 16 KiB; for lists of this length that is below 6 bytes per extent.
constexpr std::size_t kLongList = std::size_t{1} << 14;
constexpr int kMostDigitBits = 11;

// The bits of an offset that one pass sorts by.
struct Digit {
  int shift = 0;
  std::uint64_t mask = 0;
  std::array<std::uint64_t, std::size_t{1} << kMostDigitBits> place{};  // counts, later the place of the next extent
  std::size_t of(std::uint64_t key) const { return static_cast<std::size_t>((key >> shift) & mask); }
};

// Digits of equal width over the bits in which the offsets differ, lowest first. Offsets count from the lowest one,
// so that neither a common alignment nor a distant begin costs a pass.
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

// Stable, linear; extents of 0 bytes stay in `extents`.
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

}  // namespace

Result<ExtentList> ExtentList::of(std::span<const Extent> extents) {
  ExtentList list;
  TW_ASSIGN_OR_RETURN(list.summary_, summarise(extents));
  try {
    list.fill(extents);
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory,
                         "no memory to order {} extents of a list; 8 bytes are needed for each when they are given by "
                         "rising offsets, else 64",
                         extents.size());
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
    sorted_.reserve(summary_.n);
    std::ranges::copy_if(extents, std::back_inserter(sorted_), [](const Extent& extent) { return extent.bytes != 0; });
    if (!summary_.sorted) std::ranges::stable_sort(sorted_, {}, &Extent::offset);
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
  // Only the part of an extent behind the end of all earlier ones counts: these parts are disjoint and in order.
  const std::size_t at = std::min(first_beyond(offset), view_.size() - 1);
  const std::uint64_t from = std::max(view_[at].offset, at == 0 ? 0 : highest(at - 1));
  const std::uint64_t to = std::min(offset, highest(at));
  return (at == 0 ? 0 : before_[at]) + (to > from ? to - from : 0);
}

std::size_t ExtentList::first_beyond(std::uint64_t offset) const {
  if (!highest_.empty()) return static_cast<std::size_t>(std::ranges::upper_bound(highest_, offset) - highest_.begin());
  return static_cast<std::size_t>(std::ranges::upper_bound(view_, offset, {}, &Extent::end) - view_.begin());
}

}  // namespace thalweg
