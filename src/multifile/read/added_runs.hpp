// The logical files that tasks added, as runs of consecutive numbers: sections 2.4 and 6.5 of the format document.
#pragma once

#include "multifile/rank_ranges.hpp"
#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// Those that have an entry in a physical file.
Result<std::vector<format::AddedRun>> own_added(const PhysicalReader& physical, const GoOn& go_on);
// Those of all physical files, which an index of physical file 0 has.
Result<std::vector<format::AddedRun>> stored_added_runs(const PhysicalReader& first, const format::IndexPage& index,
                                                        const GoOn& go_on);
// Sorts runs, and joins those that follow each other. Where several hold a number, the one that begins first counts.
std::vector<format::AddedRun> joined_runs(std::vector<format::AddedRun> runs);
// Behind the last number that has an entry in a physical file; 0 where none has. Reads a page.
Result<std::uint64_t> end_of_added(const PhysicalReader& physical);
// Their ranks, which follow those of `n_numbered` logical files.
std::vector<PlacedRange> ranked(const std::vector<format::AddedRun>& runs, std::uint64_t n_numbered);

}  // namespace thalweg
