// The index of a physical file read as a whole: repair needs all of it, or as much as is left.
#pragma once

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// The index that `slot` names, or why it is not whole: the death of the machine may have left some of its pages.
Result<RecoveredIndex> load_index(const PhysicalReader& physical, const format::StateSlot& slot,
                                  const GoOn& go_on = {});

// Checks that the pieces of each logical file follow those of the one before: were they shared, reading all logical
// files could take as long as the product of their numbers. Reads the files section only.
Status check_piece_ranges(const PhysicalReader& physical, const GoOn& go_on = {});

// The intact part of an index that is not whole. Each page names its content (format document, section 7).
struct SalvagedIndex {
  RecoveredIndex index;  // names, modes, flags, attributes, recorded bytes; no pieces, end 0
  // Pages that do not verify and may have held one of these; names that began or ended in such pages.
  std::uint64_t lost_pages = 0;
  std::uint64_t lost_names = 0;
  // Local indices [begin, end) covered by the valid pages of file entries, by begin. Nothing is known of the others.
  struct Range {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t page = 0;  // number in the files section
    bool listed = false;
  };
  std::vector<Range> known;
  std::vector<Range> doubted_numbers;  // of added logical files: those found in these ranges may have lost bytes
  std::uint64_t lost_entries = 0;      // most entries that the invalid pages can have held, without holes
  bool fell_back = false;              // the pieces are those of an older index
};
Result<SalvagedIndex> salvage_index(const PhysicalReader& physical, const GoOn& go_on = {});  // the newest one
// Adds the pieces of an older index that is whole, and what the newer one lost. The result covers the same sessions as
// the older one.
void fall_back_on(RecoveredIndex older, SalvagedIndex& newer);

}  // namespace thalweg
