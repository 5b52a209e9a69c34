// Shown: what each task tells all others about its access, in one small message, and Whole: what everybody concludes
// from all of them. Same messages, same conclusions: nothing needs to be asked again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/access.hpp"
#include "engine/shared_file.hpp"
#include "extent/extent_list.hpp"
#include "group/group.hpp"
#include "plan/contiguity.hpp"

namespace thalweg {

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

class Whole {
 public:
  // Takes the memory for so many tasks, so that nothing after the meeting can fail for want of it. May throw
  // std::bad_alloc.
  explicit Whole(std::size_t tasks);
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  // The messages of all, in rank order.
  void read(const Gathered& gathered);

  const Shown& shown(std::size_t task) const { return shown_[task]; }
  std::size_t tasks() const { return shown_.size(); }
  bool any_wrong() const;
  // What all see to be wrong without anybody having said so: tasks that differ in what must be the same.
  Status mismatch(bool one_process) const;
  bool in_order() const { return shown_[0].placement == Placement::in_order; }
  bool common() const { return shown_[0].common; }
  std::size_t movers() const { return common() ? 1 : shown_.size(); }  // tasks 0 to movers()-1 have what is to be moved
  bool has_lists() const;                                              // some task has more than one extent
  bool in_whole_blocks() const;
  // Of all tasks; of a common access those of one. At most 2^64-1, then that.
  std::uint64_t bytes() const { return bytes_before(movers()); }
  std::uint64_t bytes_before(std::size_t task) const;
  // Puts the tasks of an access in order at their places.
  void place_in_order(std::uint64_t base);
  // How it lies in the file.
  Pattern pattern();

  // The lists of tasks `from` to `to`, once: those of one extent are made anew here, the others lie with their owners.
  std::span<const ExtentList* const> lists(std::size_t from, std::size_t to);

 private:
  // Of a few tasks it is here: a small access must not be dearer than the call that it makes.
  alignas(std::max_align_t) std::array<std::byte, 1536> here_;
  std::pmr::monotonic_buffer_resource memory_{here_.data(), here_.size()};
  std::pmr::vector<Shown> shown_;
  std::pmr::vector<ExtentSummary> summaries_;
  std::pmr::vector<Extent> single_;
  std::pmr::vector<ExtentList> made_;
  std::pmr::vector<const ExtentList*> lists_;
};

}  // namespace thalweg
