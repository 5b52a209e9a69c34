#include "sharedfile/file_view.hpp"

#include "access/view.hpp"

namespace thalweg {

FileView::FileView() : bytes_(View::bytes(View::kMost).value()) {}

Result<FileView> FileView::of(const View& view, std::uint64_t displacement) {
  FileView made;
  TW_ASSIGN_OR_RETURN(made.bytes_, view.repeated_from(displacement));
  made.whole_ = false;
  return made;
}

// An access in order gets extents without places: their offsets are not looked at.
Status FileView::place_extents(const TaskAccess& access, std::vector<Extent>& placed) const {
  const bool at_extents = access.placement == Placement::at_extents;
  std::uint64_t begin = access.placement == Placement::at_offset ? access.offset : 0;
  if (access.placement == Placement::in_view) begin = position_;
  if (access.memory == nullptr) return place_in_view(bytes_, begin, access.extents, placed);
  if (at_extents) begin = access.extents[0].offset;
  const View file = at_extents && !whole_ ? FileView().bytes_ : bytes_;
  return place_memory(file, begin, *access.memory, access.extents[0].memory, placed);
}

PlacedAccess FileView::place(PlacedAccess made) {
  if (!concerns(made.access)) return made;
  Status& status = made.access.status;
  if (made.access.placement == Placement::in_order && !whole_) {
    made.access.memory = nullptr;
    if (status.ok())
      status =
          Status::error(Code::invalid_argument,
                        "the shared position counts bytes of the file, and this handle has a view; use TW_IN_VIEW or "
                        "TW_AT_OFFSET, or remove the view by tw_file_set_view(file, 0, NULL)");
    return made;
  }
  const bool moves = made.access.placement == Placement::in_view;
  if (status.ok()) status = or_out_of_memory([&] { return place_extents(made.access, made.placed); });
  if (made.access.placement != Placement::in_order) made.access.placement = Placement::at_extents;
  made.access.extents = made.placed;  // none on failure
  made.access.memory = nullptr;
  if (!moves) return made;  // other threads may be here
  for (const Extent& extent : made.placed) position_ += extent.bytes;
  return made;
}

}  // namespace thalweg
