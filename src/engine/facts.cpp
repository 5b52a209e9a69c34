#include "engine/facts.hpp"

#include <algorithm>
#include <string>

namespace thalweg {

namespace {

// Where a task of an access in order lies when all before it have no byte.
PatternPart from_zero(const ExtentSummary& summary) {
  ExtentSummary placed = summary;
  placed.begin = 0;
  placed.end = summary.bytes;
  placed.runs = placed.close_runs = summary.n > 0 ? 1 : 0;
  placed.close_bytes = summary.bytes;
  placed.sorted = placed.disjoint = true;
  return PatternPart(placed);
}

}  // namespace

Facts::Facts(const Shown& shown, TaskRank task, Call call)
    : calls_(call, task),
      pattern_(shown.placement == Placement::in_order ? from_zero(shown.summary) : PatternPart(shown.summary)),
      bytes_(shown.summary.bytes),
      list_(shown.list),
      file_(shown.file),
      n_(shown.summary.n),
      first_bytes_(shown.summary.bytes),
      begin_(shown.summary.begin),
      end_(shown.summary.end),
      position_(shown.position),
      ticket_(shown.ticket),
      first_(task),
      direction_(shown.direction),
      in_order_(shown.placement == Placement::in_order),
      common_(shown.common),
      any_wrong_(shown.code != 0),
      has_lists_(shown.summary.n > 1),
      whole_blocks_(shown.whole_blocks) {}

// In what the first tasks of both differ.
Facts::Difference Facts::difference(const Facts& other) const {
  if (other.direction_ != direction_) return Difference::direction;
  if (other.common_ != common_) return Difference::common;
  if (other.in_order_ != in_order_) return Difference::order;
  if (other.file_ != file_) return Difference::file;
  if (!common_) return Difference::none;
  const bool same = n_ == other.n_ && first_bytes_ == other.first_bytes_ && begin_ == other.begin_ &&
                    end_ == other.end_ && (n_ != 1 || list_ == other.list_);
  return same ? Difference::none : Difference::arguments;
}

void Facts::join(const Facts& next) {
  if (next.first_ < 0) return;
  if (first_ < 0) {
    *this = next;
    return;
  }
  if (differs_ == Difference::none) {
    differs_ = difference(next);
    who_differs_ = next.first_;
    if (differs_ == Difference::none && next.differs_ != Difference::none) {
      differs_ = next.differs_;
      who_differs_ = next.who_differs_;
    }
  }
  calls_.join(next.calls_);
  any_wrong_ = any_wrong_ || next.any_wrong_;
  has_lists_ = has_lists_ || next.has_lists_;
  whole_blocks_ = whole_blocks_ && next.whole_blocks_;
  if (common_) return;  // one moves it for all
  PatternPart behind = next.pattern_;
  if (in_order_) behind.shift(bytes_);
  pattern_.join(behind);
  bytes_ += std::min(next.bytes_, ~std::uint64_t{0} - bytes_);
}

Folding Facts::folding() {
  return {sizeof(Facts),
          [](void* left, const void* right) { static_cast<Facts*>(left)->join(*static_cast<const Facts*>(right)); }};
}

Status Facts::mismatch() const {
  const char* what = nullptr;
  switch (differs_) {
    case Difference::none:
      return {};
    case Difference::direction:
      what = "differ: one reads, one writes";
      break;
    case Difference::common:
      what = "differ: one gives common arguments, one its own";
      break;
    case Difference::order:
      what = "differ: one goes by the shared position, one by offsets";
      break;
    case Difference::file:
      what = "name different files";
      break;
    case Difference::arguments:
      what = "give different arguments where they must be common";
      break;
  }
  return Status::error(Code::invalid_argument, "tasks " + std::to_string(first_) + " and " +
                                                   std::to_string(who_differs_) + " of one collective access " + what);
}

Pattern Facts::pattern(std::uint64_t base) const {
  if (!in_order_) return pattern_.pattern();
  PatternPart placed = pattern_;
  placed.shift(base);
  return placed.pattern();
}

}  // namespace thalweg
