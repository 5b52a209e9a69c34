// FileView: the view and the position of one handle of a file; it turns accesses in the view into accesses at offsets
// of the file.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "access/view.hpp"
#include "engine/task_access.hpp"

namespace thalweg {

// An access, and memory for extents computed here. Moved, not copied: access.extents may point into `placed`.
struct PlacedAccess {
  PlacedAccess(TaskAccess given) : access(std::move(given)) {}  // for an access at offsets
  PlacedAccess(PlacedAccess&&) noexcept = default;
  PlacedAccess& operator=(PlacedAccess&&) noexcept = default;

  TaskAccess access;
  std::vector<Extent> placed;
};

class FileView {
 public:
  // The view of the whole file, byte by byte. May throw std::bad_alloc.
  FileView();
  // `view` repeats from `displacement` on. Fails with out_of_range; may throw.
  static Result<FileView> of(const View& view, std::uint64_t displacement);

  // Whether place() changes the access: accesses of whole extents by offsets of the file stay as they are.
  bool concerns(const TaskAccess& access) const {
    const bool in_view = access.placement == Placement::in_view;
    return in_view || access.memory != nullptr || (!whole_ && access.placement != Placement::at_extents);
  }
  // Places an access: its extents get offsets of the file, or its status has the failure. An access in the view moves
  // the position, if nothing is wrong; others may be placed by several threads at once. Throws nothing.
  PlacedAccess place(PlacedAccess made);

  std::uint64_t position() const { return position_; }
  void move_to(std::uint64_t position) { position_ = position; }
  const View& bytes() const { return bytes_; }

 private:
  Status place_extents(const TaskAccess& access, std::vector<Extent>& placed) const;

  View bytes_;
  std::uint64_t position_ = 0;
  bool whole_ = true;
};

}  // namespace thalweg
