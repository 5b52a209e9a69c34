#include "vpfile/vpfile_parts.hpp"

#include <algorithm>

#include "vpfile/vpfile.hpp"

namespace thalweg {

namespace {

// The layout of a file that has no IB segment yet, with one: it begins behind the lattice as it is now.
format::VpGeometry with_segment(format::VpGeometry geometry, const VpHints& hints) {
  geometry.block_bytes = static_cast<std::uint32_t>(hints.block_bytes);
  const std::uint64_t least = std::max(VpFile::kDefaultSuperblock, 64 * hints.block_bytes);
  const std::uint64_t bytes =
      hints.superblock_bytes != 0 ? hints.superblock_bytes : std::min(least, format::kMostSuperblock);
  geometry.superblock_bytes = static_cast<std::uint32_t>(bytes);
  geometry.pointers = static_cast<std::uint32_t>(hints.directory_pointers);
  geometry.first_superblock = (geometry.lattice_end() + bytes - 1) / bytes;
  return geometry;
}

}  // namespace

Status VpParts::make_blocks() {
  const bool stored = geometry.has_ib();
  SegmentSetup setup;
  setup.geometry = stored ? geometry : with_segment(geometry, hints);
  TW_RETURN_IF_ERROR(stored ? sides->open(*backend, path, meta, may_write ? OpenMode::read_write : OpenMode::read)
                            : sides->make(*backend, path, meta.id, setup.geometry, !truncates));
  setup.data = &data();
  setup.sides = sides.get();
  setup.id = meta.id;
  setup.session = meta.session;
  setup.end_of_superblocks = std::max(meta.end_of_superblocks, setup.geometry.first_superblock);
  setup.superblocks = meta.superblocks;
  setup.end_of_entries = meta.end_of_entries;
  setup.task = static_cast<std::uint64_t>(group().rank());
  setup.tasks = static_cast<std::uint64_t>(group().size());
  setup.alone = !may_write || setup.tasks == 1;
  setup.cache_bytes = hints.cache_bytes;
  blocks = std::make_unique<BlockStore>(setup);
  geometry = setup.geometry;
  if (durable) blocks->set_durable();
  return {};
}

void VpParts::note(VpMode used, const char* cause) {
  if (used <= mode) return;
  transitions.push_back({n_accesses, mode, used, cause});
  mode = used;
}

Status VpParts::check_mode(Direction direction) const {
  const bool writes = direction == Direction::write;
  if (writes ? may_write : may_read) return {};
  return Status::error(Code::wrong_mode, "'" + path + "' is not open for " + (writes ? "writing" : "reading"));
}

Status VpParts::check_record() const {
  if (geometry.record_bytes != 0 || geometry.nb_bytes == 0) return {};
  return Status::error(Code::invalid_argument,
                       "'" + path +
                           "' has no NAME.meta, so the first access of all tells the size of its records; "
                           "make that first, or give the hint record_bytes");
}

Status VpParts::too_long(std::uint64_t local) const {
  return Status::error(Code::out_of_range, "'" + path + "': the stream of virtual processor " +
                                               std::to_string(vps.count() > local ? vps.number(local) : 0) +
                                               " would be longer than it may");
}

}  // namespace thalweg
