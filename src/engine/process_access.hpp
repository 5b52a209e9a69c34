// ProcessAccess: the accesses of all tasks of one process, which reach each other's lists and memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/plan/group_access.hpp"
#include "group/group.hpp"

namespace thalweg {

class ProcessAccess {
 public:
  static constexpr std::size_t kMostPieces = 16;

  // Allocates the memory for `tasks` tasks, so that no allocation fails after the gather. May throw std::bad_alloc.
  explicit ProcessAccess(std::size_t tasks);
  ProcessAccess(const ProcessAccess&) = delete;
  ProcessAccess& operator=(const ProcessAccess&) = delete;

  // Takes the gathered summaries of all tasks, and returns their join.
  GroupAccess read(const Gathered& gathered);
  const AccessSummary& summary(std::size_t task) const { return summaries_[task]; }
  // The bytes of the tasks below `task`; those of a common access belong to task 0.
  std::uint64_t bytes_before(std::size_t task) const;
  // Places the tasks of an access in order from `base` on.
  void place_in_order(std::uint64_t base);

  // The lists of all tasks that have bytes to move, once. A list of one extent is made here, since its task may have
  // yet to place its own; longer lists lie with their tasks.
  std::span<const ExtentList* const> lists();
  // The memory of all tasks in rank order, neighbours merged, in `room`; for at most kMostPieces tasks of one extent
  // each.
  std::span<const Piece> pieces(std::array<Piece, kMostPieces>& room) const;

 private:
  // The tasks that have bytes to move: all, or the first of a common access.
  std::span<const AccessSummary> movers() const;

  // The memory for a few tasks is in the object: a small access must not cost more than the call that it makes.
  alignas(std::max_align_t) std::array<std::byte, 1280> here_;
  std::pmr::monotonic_buffer_resource memory_{here_.data(), here_.size()};
  std::pmr::vector<AccessSummary> summaries_;
  std::pmr::vector<Extent> single_;
  std::pmr::vector<ExtentList> made_;
  std::pmr::vector<const ExtentList*> lists_;
};

}  // namespace thalweg
