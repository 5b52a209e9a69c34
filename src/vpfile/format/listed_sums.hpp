// The sums of the entries of NAME.first and NAME.dir, in NAME.meta: by them a reader of a closed vpfile sees that no
// entry was lost, and that none is what it was before. Section 6 of docs/format/vpfile.md.
#pragma once

#include "base/mix.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/meta.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kEntriesPerSum = 512;
inline constexpr std::uint64_t kSumsPerPage = 512;
inline constexpr std::uint64_t kSumPageBytes = 8 * kSumsPerPage;
inline std::uint64_t sums_for(std::uint64_t entries) { return (entries + kEntriesPerSum - 1) / kEntriesPerSum; }
inline constexpr std::uint64_t kFirstSums = 2 * kMetaSlotStep;  // offset in NAME.meta of those of NAME.first

// Offset in NAME.meta of the sums of a side file, page after page.
inline std::uint64_t sums_offset(DirectoryFile which, std::uint64_t n) {
  constexpr std::uint64_t kVpsPerPage = kEntriesPerSum * kSumsPerPage;
  return which == DirectoryFile::first ? kFirstSums : kFirstSums + (n + kVpsPerPage - 1) / kVpsPerPage * kSumPageBytes;
}

// Offset in NAME.meta behind all pages of sums of a vpfile that was closed with an IB segment.
inline std::uint64_t end_of_sums(const VpMeta& meta) {
  const std::uint64_t sums = sums_for(meta.end_of_entries - 1);
  return sums_offset(DirectoryFile::overflow, meta.geometry.n) +
         (sums + kSumsPerPage - 1) / kSumsPerPage * kSumPageBytes;
}

// What an entry adds to its sum, told by its number and its checksum. An empty one, whose checksum is 0, adds nothing.
inline std::uint64_t entry_hash(std::uint64_t number, std::uint32_t crc) {
  return crc == 0 ? 0 : mix(number << 32 | crc);
}
// What sum number `at` of a side file adds to the seal of all of them; 0 adds nothing.
inline std::uint64_t sum_hash(std::uint64_t at, std::uint64_t sum) { return sum == 0 ? 0 : mix(mix(at) ^ sum); }

}  // namespace thalweg::format
