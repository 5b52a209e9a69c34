// Facts: what every task of a group knows of a collective access, the same on all. They join: those of consecutive
// tasks and those of the tasks that follow are the facts of both, so that a group of any size finds them in one fold
// (Group::fold), and no task hears of every other one.
#pragma once

#include <cstdint>

#include "engine/access.hpp"
#include "engine/plan/contiguity.hpp"
#include "engine/shared_file.hpp"
#include "group/group.hpp"

namespace thalweg {

// What a task tells of its access.
struct Shown {
  ExtentSummary summary;
  // Both mean something within one process only. `list` leads to the owner's list; to its memory when it is one extent.
  const void* list = nullptr;
  const SharedFile* file = nullptr;
  std::uint64_t position = 0;  // of task 0, for accesses in order
  std::uint64_t ticket = 0;    // the same
  std::int16_t code = 0;       // Code; not 0: the access is wrong
  Direction direction = Direction::read;
  Placement placement = Placement::at_extents;
  bool common = false;
  bool whole_blocks = false;  // the list begins and ends blocks of the page cache only, and lies where it says
};
static_assert(sizeof(Shown) <= 112, "a team copies so much at a meeting, and needs a second one to lend more");

class Facts {
 public:
  Facts() = default;  // of no task
  Facts(const Shown& shown, TaskRank task, Call call = Call::none);
  void join(const Facts& next);
  static Folding folding();

  // Those of all: where they differ nothing below means anything.
  const CallsOfAll& calls() const { return calls_; }
  bool any_wrong() const { return any_wrong_; }
  // What all see to be wrong without anybody having said so: tasks that differ in what must be the same.
  bool differ() const { return differs_ != Difference::none; }
  Status mismatch() const;  // in words
  bool in_order() const { return in_order_; }
  bool common() const { return common_; }
  bool has_lists() const { return has_lists_; }  // some task has more than one extent
  bool in_whole_blocks() const { return whole_blocks_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t ticket() const { return ticket_; }
  // Of all tasks; of a common access those of one. At most 2^64-1, then that.
  std::uint64_t bytes() const { return bytes_; }
  // How it lies in the file; an access in order, whose tasks lie one behind the other, from `base` on.
  Pattern pattern(std::uint64_t base) const;

 private:
  enum class Difference : std::uint8_t { none, direction, common, order, file, arguments };
  Difference difference(const Facts& other) const;

  CallsOfAll calls_;
  PatternPart pattern_;
  std::uint64_t bytes_ = 0;
  // Of the first of the tasks.
  const void* list_ = nullptr;
  const SharedFile* file_ = nullptr;
  std::uint64_t n_ = 0, first_bytes_ = 0, begin_ = 0, end_ = 0;
  std::uint64_t position_ = 0, ticket_ = 0;
  TaskRank first_ = -1;
  Direction direction_ = Direction::read;
  bool in_order_ = false, common_ = false;
  // Of all.
  bool any_wrong_ = false, has_lists_ = false, whole_blocks_ = true;
  Difference differs_ = Difference::none;
  TaskRank who_differs_ = -1;  // from the first
};
static_assert(sizeof(Facts) <= Folding::kMost);

}  // namespace thalweg
