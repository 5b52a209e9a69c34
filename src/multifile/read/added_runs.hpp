// The logical files that tasks added, as runs of consecutive numbers: sections 2.4 and 6.5 of the format document.
#pragma once

#include "multifile/rank_ranges.hpp"
#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// Those that have an entry in a physical file.
Result<std::vector<format::AddedRun>> own_added(const PhysicalReader& physical, const GoOn& go_on);
// Those of all physical files, which the index of physical file 0 has.
Result<std::vector<format::AddedRun>> stored_added_runs(const PhysicalReader& first, const GoOn& go_on);
// Their ranks, which follow those of `n_numbered` logical files.
std::vector<PlacedRange> ranked(std::vector<format::AddedRun> runs, std::uint64_t n_numbered);

}  // namespace thalweg
