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

PlacedAccess FileView::place(PlacedAccess made) {
  if (!concerns(made.access)) return made;
  Status& status = made.access.status;
  if (made.access.placement == Placement::in_order) {
    if (status.ok())
      status =
          Status::error(Code::invalid_argument,
                        "the shared position counts bytes of the file, and this handle has a view; use TW_IN_VIEW or "
                        "TW_AT_OFFSET, or remove the view by tw_file_set_view(file, 0, NULL)");
    return made;
  }
  const bool moves = made.access.placement == Placement::in_view;
  const std::uint64_t position = moves ? position_ : made.access.offset;
  made.access.placement = Placement::at_extents;
  if (status.ok())
    status = or_out_of_memory([&] { return place_in_view(bytes_, position, made.access.extents, made.placed); });
  made.access.extents = {};
  if (!status.ok()) return made;
  made.access.extents = made.placed;
  if (!moves) return made;
  for (const Extent& extent : made.placed) position_ += extent.bytes;
  return made;
}

}  // namespace thalweg
