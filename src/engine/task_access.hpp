// TaskAccess: the access of one task: bytes to move between its memory and a file.
#pragma once

#include <cstdint>
#include <span>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

class View;

//   at_extents  each extent at its own offset
//   at_offset   extents one behind the other from TaskAccess::offset
//   in_order    extents one behind the other from the shared position, task after task in rank order
//   in_view     extents one behind the other in a view of the file; becomes at_extents before the engine sees it
enum class Placement : std::uint8_t { at_extents, at_offset, in_order, in_view };

struct TaskAccess {
  Direction direction = Direction::read;
  Placement placement = Placement::at_extents;
  bool common = false;     // every task gives the same arguments: the bytes are moved once per process
  bool of_others = false;  // the group is not the one that opened the file, and has none of its aggregators
  std::span<const Extent> extents = {};  // borrowed, with their memory, until the access is complete
  std::uint64_t offset = 0;              // for at_offset; in order: the shared position, once it is known
  // The bytes of the one extent that are moved, seen from its begin; null: all. The engine does not see it: whoever
  // places the access makes extents of it.
  const View* memory = nullptr;
  // Offset of the first byte. In order only for a task alone: the bytes of lower ranks come before.
  std::uint64_t begin() const { return placement == Placement::at_extents ? extents[0].offset : offset; }
  Status status = {};  // a failure that the caller found already; becomes the failure of all tasks
};

}  // namespace thalweg
