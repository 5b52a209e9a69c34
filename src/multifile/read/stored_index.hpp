// The index that the state slot of a physical file names, read as a whole: for repair, which needs all of it or
// whatever is left of it.
#pragma once

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// The index that `slot` names: whole, or why not. The death of the machine may have left parts of it.
Result<RecoveredIndex> load_index(const PhysicalReader& physical, const format::StateSlot& slot,
                                  const GoOn& go_on = {});

// The pieces of the logical files must stand one behind the other: were they shared, reading all of them could take as
// long as their numbers multiplied. Looks at the files section only.
Status check_piece_ranges(const PhysicalReader& physical, const GoOn& go_on = {});

// What is left of an index that is not whole. Its pages tell themselves what they hold (format document, section 7).
struct SalvagedIndex {
  RecoveredIndex index;  // names, modes, flags, attributes, told bytes; no pieces, end 0
  // Pages that do not verify and may have held one of these, or names that point into them.
  std::uint64_t lost_pages = 0;
  std::uint64_t lost_names = 0;
  // Local indices [begin, end) that the pages of file entries told of, by begin; what lies between them nobody knows.
  struct Told {
    std::uint64_t begin = 0, end = 0;
  };
  std::vector<Told> told;
  std::uint64_t lost_entries = 0;  // that the pages that do not verify had at most, holes left out
};
Result<SalvagedIndex> salvage_index(const PhysicalReader& physical, const GoOn& go_on = {});  // the newest one
// Adds the pieces, and what the newer index lost, of an older one that is whole: the newer one then covers what that
// does.
void fall_back_on(RecoveredIndex older, SalvagedIndex& newer);

}  // namespace thalweg
