// SegmentSetup: where the IB segment of a vpfile is, and which of its superblocks and entries a task makes.
#pragma once

#include "storage/backend.hpp"
#include "vpfile/format/geometry.hpp"
#include "vpfile/streams/side_files.hpp"

namespace thalweg {

struct SegmentSetup {
  StoredFile* data = nullptr;
  const SideFiles* sides = nullptr;  // open
  format::FileIdentity id;
  format::VpGeometry geometry;
  std::uint32_t session = 1;
  std::uint64_t end_of_superblocks = 0;  // superblocks of earlier sessions have lower numbers and are not changed
  std::uint64_t superblocks = 0;         // number of superblocks of earlier sessions
  std::uint64_t end_of_entries = 0;      // likewise of entries of NAME.dir
  std::uint64_t task = 0;                // rank: distance of its first superblock, and page of entries, from these ends
  std::uint64_t tasks = 1;               // distance to the next superblock, and page of entries, of a task
  bool alone = true;                     // no other task writes entries
  std::uint64_t cache_bytes = 0;
};

}  // namespace thalweg
