#include "vpfile/vpfile_parts.hpp"

#include <algorithm>

#include "base/hint_table.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kDefaultSuperblock = std::uint64_t{1} << 18;

// The geometry with an IB segment added, which begins behind the present lattice.
format::VpGeometry with_segment(format::VpGeometry geometry, const VpHints& hints) {
  geometry.block_bytes = static_cast<std::uint32_t>(hints.block_bytes);
  const std::uint64_t least = std::max(kDefaultSuperblock, 64 * hints.block_bytes);
  const std::uint64_t bytes =
      hints.superblock_bytes != 0 ? hints.superblock_bytes : std::min(least, format::kMostSuperblock);
  geometry.superblock_bytes = static_cast<std::uint32_t>(bytes);
  geometry.pointers = static_cast<std::uint32_t>(hints.directory_pointers);
  geometry.first_superblock = (geometry.lattice_end() + bytes - 1) / bytes;
  return geometry;
}

// ext4 writes faster into reserved blocks than into new ones: docs/adr/0033-batches.md.
bool reserves_blocks(Backend& backend, const std::string& path) {
  const auto storage = backend.describe(path);
  return storage.has_value() && storage.value().kind == "ext4";
}

// Words among the values are "auto", booleans 0 and 1.
Status set_vp_hint(VpHints& hints, std::string_view name, std::string_view value) {
  TW_ASSIGN_OR_RETURN(const HintSpec* spec, find_hint(name, HintScope::vpfile));
  TW_ASSIGN_OR_RETURN(std::uint64_t number, parse_hint(*spec, value));
  if ((number & kHintWord) != 0) number = 0;
  if (name == "record_bytes") hints.record_bytes = number;
  if (name == "round_bytes") hints.round_bytes = number;
  if (name == "block_bytes") hints.block_bytes = number;
  if (name == "superblock_bytes") hints.superblock_bytes = number;
  if (name == "directory_pointers") hints.directory_pointers = number;
  if (name == "cache_bytes") hints.cache_bytes = number;
  if (name == "assume_nb") hints.assume_nb = number != 0;
  if (name == "overwrite_foreign") hints.overwrite_foreign = number != 0;
  return {};
}

}  // namespace

Result<VpHints> parse_vp_hints(std::string_view text, std::string& of_file) {
  VpHints hints;
  TW_RETURN_IF_ERROR(for_each_hint(text, [&](std::string_view name, std::string_view value) -> Status {
    if (!find_hint(name, HintScope::file).has_value()) return set_vp_hint(hints, name, value);
    of_file.append(of_file.empty() ? "" : ",").append(name).append("=").append(value);
    return {};
  }));
  return hints;
}

Status VpParts::make_blocks() {
  const bool stored = geometry.has_ib();
  SegmentSetup setup{.data = &data(), .sides = sides.get(), .meta = meta};
  setup.meta.geometry = stored ? geometry : with_segment(geometry, hints);
  TW_RETURN_IF_ERROR(stored ? sides->open(*backend, path, meta, may_write ? OpenMode::read_write : OpenMode::read)
                            : sides->make(*backend, path, meta.id, setup.meta.geometry, !truncates));
  setup.meta.end_of_superblocks = std::max(meta.end_of_superblocks, setup.meta.geometry.first_superblock);
  setup.task = static_cast<std::uint64_t>(group().rank());
  setup.tasks = static_cast<std::uint64_t>(group().size());
  setup.alone = !may_write || setup.tasks == 1;
  setup.cache_bytes = hints.cache_bytes;
  setup.reserves = may_write && reserves_blocks(*backend, path);
  blocks = std::make_unique<BlockStore>(setup);
  geometry = setup.meta.geometry;
  if (durable) blocks->set_durable();
  return {};
}

void VpParts::note(VpMode used, const char* cause) {
  if (used <= mode) return;
  transitions.push_back({n_accesses, mode, used, cause});
  mode = used;
}

Status VpParts::not_open_for(Direction direction) const {
  const char* const what = direction == Direction::write ? "writing" : "reading";
  return Status::error(Code::wrong_mode, "'{}' is not open for {}", path, what);
}

// FUSE passes exactly the bytes on that were written.
Status VpParts::check_alone() const {
  const SharedFile& shared = *file->shared();
  if (shared.is_coherent || shared.storage.kind.starts_with("fuse")) return {};
  return Status::error(Code::unsafe,
                       "'{}': where virtual processors write alone, or different numbers of bytes, nodes share pages, "
                       "and {} may lose parts of them; let all write the same number, or write it from one node",
                       path, shared.storage.kind);
}

Status VpParts::check_record() const {
  if (geometry.record_bytes != 0 || geometry.nb_bytes == 0) return {};
  return Status::error(Code::invalid_argument,
                       "'{}' has no NAME.meta, so the first access of all tells the size of its records; make that "
                       "first, or give the hint record_bytes",
                       path);
}

Status VpParts::too_long(std::uint64_t local) const {
  return Status::error(Code::out_of_range, "'{}': the stream of virtual processor {} would be longer than it may", path,
                       vps.count() > local ? vps.number(local) : 0);
}

}  // namespace thalweg
