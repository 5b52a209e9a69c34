// SegmentSetup: where the IB segment of a vpfile is, and which of its superblocks and entries a task makes.
#pragma once

#include "storage/backend.hpp"
#include "vpfile/format/geometry.hpp"
#include "vpfile/streams/side_files.hpp"

namespace thalweg {

struct SegmentSetup {
  StoredFile* data = nullptr;
  const SideFiles* sides = nullptr;  // open
  // As the file was opened, with the session that writes it. Superblocks and entries of earlier sessions have lower
  // numbers than its ends and are not changed.
  format::VpMeta meta;
  std::uint64_t task = 0;   // rank: distance of its first superblock, and page of entries, from these ends
  std::uint64_t tasks = 1;  // distance to the next superblock, and page of entries, of a task
  bool alone = true;        // no other task writes entries
  std::uint64_t cache_bytes = 0;
  bool reserves = false;  // superblocks are written faster into reserved blocks
};

}  // namespace thalweg
