// Whole: what the tasks of one process know of a collective access of theirs: what each of them has shown, and with it
// where the list and the memory of each one lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/facts.hpp"
#include "engine/plan/contiguity.hpp"
#include "group/group.hpp"

namespace thalweg {

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
  const Facts& facts() const { return facts_; }
  std::size_t movers() const {
    return facts_.common() ? 1 : shown_.size();
  }  // who has what is to be moved: the first ones
  std::uint64_t bytes_before(std::size_t task) const;
  // Puts the tasks of an access in order at their places.
  void place_in_order(std::uint64_t base);

  // The lists of tasks `from` to `to`, once: those of one extent are made anew here, the others lie with their owners.
  std::span<const ExtentList* const> lists(std::size_t from, std::size_t to);

 private:
  // Of a few tasks it is here: a small access must not be dearer than the call that it makes.
  alignas(std::max_align_t) std::array<std::byte, 1536> here_;
  std::pmr::monotonic_buffer_resource memory_{here_.data(), here_.size()};
  std::pmr::vector<Shown> shown_;
  Facts facts_;
  std::pmr::vector<Extent> single_;
  std::pmr::vector<ExtentList> made_;
  std::pmr::vector<const ExtentList*> lists_;
};

}  // namespace thalweg
