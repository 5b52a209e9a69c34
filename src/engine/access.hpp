// Access: what one task of a group wants moved between its memory and a file.
#pragma once

#include <cstdint>
#include <span>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

//   at_extents  each extent at its own offset
//   at_offset   one behind the other from Access::offset
//   in_order    one behind the other from the shared position, task after task in rank order
//   in_view     one behind the other in a view of the file; it becomes at_extents before the engine sees it
enum class Placement : std::uint8_t { at_extents, at_offset, in_order, in_view };

struct Access {
  Direction direction = Direction::read;
  Placement placement = Placement::at_extents;
  bool common = false;              // every task gives the same: moved once per process
  bool of_others = false;           // the group is not the one that opened the file, whose aggregators are not its own
  std::span<const Extent> extents;  // borrowed until the access is complete, the memory too
  std::uint64_t offset = 0;         // for at_offset
  Status status;                    // what the caller found wrong already: told to all
};

}  // namespace thalweg
