// From pieces to an index: the format document, section 7, steps 5 and 6.
#pragma once

#include "multifile/read/recovery_scan.hpp"

namespace thalweg {

// Makes the entries of the logical files that have one in the base index, or pieces behind it. Sorts scan.pieces.
Status merge_pieces(const PhysicalReader& physical, const RecoveredIndex& base, Scan& scan, const GoOn& go_on,
                    Recovery& recovery);

}  // namespace thalweg
