// From pieces to an index: the format document, section 7, steps 5 and 6.
#pragma once

#include "multifile/read/recovery_scan.hpp"

namespace thalweg {

// Makes the entries of the logical files that have one in the base index, or pieces behind it. Sorts scan.pieces.
void merge_pieces(const RecoveredIndex& base, Scan& scan, Recovery& recovery);

}  // namespace thalweg
