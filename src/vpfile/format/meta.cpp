#include "vpfile/format/meta.hpp"

#include <fmt/core.h>

#include <optional>
#include <string>

#include "base/checked_math.hpp"
#include "store/format/field_list.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kMetaMagic = "TWVPMETA";
constexpr const char* kMetaName = "NAME.meta";
constexpr std::size_t kStateBytes = 512;  // a sector, which the death of a machine does not tear; then the shape
constexpr std::size_t kIdOffset = 24;
constexpr std::uint32_t kMetaFile = 3;  // its number in identities

FileIdentity identity_in(ByteView slot) {
  FileIdentity id{.physical = kMetaFile};
  FieldReader in(slot.subspan(kIdOffset));
  move_fields(in, id);
  return id;
}

bool verifies(ByteView slot, std::uint64_t offset) {
  const FileIdentity id = identity_in(slot);
  return FieldReader(slot).get_magic(kMetaMagic) && is_sealed(slot.first(kStateBytes), id, offset) &&
         is_sealed(slot.subspan(kStateBytes, kMetaSlotBytes - kStateBytes), id, offset + kStateBytes);
}

// The fields behind the magic. `dimensions`: their number.
template <class Io, class Meta>
void list_slot(Io& io, Meta& m, std::uint32_t& dimensions, std::uint64_t& features, FileState& state) {
  auto& g = m.geometry;
  std::uint32_t unused = 0, session_high = 0;
  move_fields(io, m.major, m.minor, dimensions, m.sequence, m.id, features, state, m.durable, g.n, g.record_bytes,
              g.nb_bytes, g.buffer_bytes, g.cb_bytes, g.block_bytes, g.superblock_bytes, g.pointers, unused,
              g.first_superblock, m.end_of_superblocks, m.end_of_entries, m.ib_bytes, m.session, session_high,
              m.side_bytes[DirectoryFile::first], m.side_bytes[DirectoryFile::overflow], m.data_bytes,
              m.side_seals[DirectoryFile::first], m.side_seals[DirectoryFile::overflow], m.superblocks, m.batches,
              m.batches_seal);
}

Status check_version(ByteView slot) {
  const auto major = load_le<std::uint16_t>(slot.subspan(8));
  if (major == kVpMajor) return {};
  return Status::error(Code::unsupported_version,
                       "NAME.meta is of format version {}; this library reads version {}: use {}", major, kVpMajor,
                       major > kVpMajor ? "a newer one" : "the one that wrote it");
}

Status read_shape(ByteView slot, std::uint32_t dimensions, VpMeta& meta) {
  if (dimensions < 1 || dimensions > kMostDimensions)
    return bad_field(kMetaName, "number of dimensions", dimensions, "1 to 64");
  FieldReader in(slot.subspan(kStateBytes));
  std::uint64_t others = 1;
  for (std::uint32_t i = 0; i + 1 < dimensions; ++i) {
    meta.shape.push_back(in.get<std::uint64_t>());
    if (meta.shape.back() == 0 || mul_overflow(others, meta.shape.back(), &others))
      return bad_field(kMetaName, "a dimension", meta.shape.back(), "what has the VPs as its product");
  }
  if (meta.geometry.n % others != 0)
    return bad_field(kMetaName, "virtual processors", meta.geometry.n, fmt::format("a multiple of {}", others));
  meta.shape.push_back(meta.geometry.n / others);
  return {};
}

Status check_ends(const VpMeta& meta) {
  const VpGeometry& geometry = meta.geometry;
  if (!geometry.has_ib()) {
    return check_zero(kMetaName, {{"end of superblocks", meta.end_of_superblocks},
                                  {"superblocks", meta.superblocks},
                                  {"end of entries", meta.end_of_entries},
                                  {"bytes of NAME.first", meta.side_bytes[DirectoryFile::first]},
                                  {"bytes of NAME.dir", meta.side_bytes[DirectoryFile::overflow]},
                                  {"seal of NAME.first", meta.side_seals[DirectoryFile::first]},
                                  {"seal of NAME.dir", meta.side_seals[DirectoryFile::overflow]},
                                  {"batches", meta.batches},
                                  {"seal of NAME.batches", meta.batches_seal}});
  }
  const std::uint64_t most = (std::uint64_t{1} << 63) / geometry.superblock_bytes - 1;
  if (meta.end_of_superblocks < geometry.first_superblock || meta.end_of_superblocks > most)
    return bad_field(kMetaName, "end of superblocks", meta.end_of_superblocks,
                     fmt::format("{} to {}", geometry.first_superblock, most));
  if (meta.superblocks > meta.end_of_superblocks - geometry.first_superblock)
    return bad_field(kMetaName, "superblocks", meta.superblocks,
                     fmt::format("0 to {}", meta.end_of_superblocks - geometry.first_superblock));
  const std::uint64_t most_entries = (std::uint64_t{1} << 62) / entry_bytes(geometry.pointers);
  if (meta.end_of_entries < 1 || meta.end_of_entries > most_entries)
    return bad_field(kMetaName, "end of entries", meta.end_of_entries, fmt::format("1 to {}", most_entries));
  if (meta.batches > kMostBatches || (meta.batches == 0 && meta.batches_seal != 0))
    return bad_field(kMetaName, "batches", meta.batches, fmt::format("0 to {}", kMostBatches));
  return {};
}

}  // namespace

Result<std::uint64_t> count_vps(const std::vector<std::uint64_t>& shape) {
  if (shape.empty() || shape.size() > kMostDimensions)
    return Status::error(Code::out_of_range, "a shape of {} dimensions; 1 to 64 are allowed", shape.size());
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return Status::error(Code::out_of_range, "a dimension of the shape is 0; 1 or more is allowed");
    if (mul_overflow(n, extent, &n) || n > kMostVps)
      return Status::error(Code::out_of_range, "the shape has more than 2^40 virtual processors");
  }
  return n;
}

bool begins_as_meta(ByteView slot) { return begins_with(slot, kMetaMagic); }

std::array<std::byte, kMetaSlotBytes> encode_meta(const VpMeta& meta) {
  std::array<std::byte, kMetaSlotBytes> slot{};
  FieldWriter out(slot);
  out.put_magic(kMetaMagic);
  auto dimensions = static_cast<std::uint32_t>(meta.shape.size());
  std::uint64_t features = 0;
  FileState state = meta.closed ? FileState::closed : FileState::open;
  list_slot(out, meta, dimensions, features, state);
  FieldWriter others(ByteSpan(slot).subspan(kStateBytes));
  for (std::size_t i = 0; i + 1 < meta.shape.size(); ++i) others.put(meta.shape[i]);
  seal_meta(slot, meta_offset(meta.sequence));
  return slot;
}

void seal_meta(ByteSpan slot, std::uint64_t offset) {
  seal(slot.first(kStateBytes), identity_in(slot), offset);
  seal(slot.subspan(kStateBytes), identity_in(slot), offset + kStateBytes);
}

Result<ByteView> find_meta_slot(ByteView file) {
  std::optional<ByteView> holds;
  std::uint64_t highest = 0;
  for (const std::size_t at : {std::size_t{0}, kMetaSlotStep}) {
    if (at + kMetaSlotBytes > file.size()) break;
    const ByteView slot = file.subspan(at, kMetaSlotBytes);
    if (FieldReader(slot).get_magic(kMetaMagic)) TW_RETURN_IF_ERROR(check_version(slot));
    const auto sequence = load_le<std::uint64_t>(slot.subspan(16));
    if (!verifies(slot, at) || sequence <= highest || meta_offset(sequence) != at) continue;
    holds = slot;
    highest = sequence;
  }
  if (!holds.has_value()) return corrupt("NAME.meta has no valid slot");
  return *holds;
}

Result<VpMeta> parse_meta_slot(ByteView slot) {
  VpMeta meta;
  FieldReader in(slot);
  in.get_magic(kMetaMagic);
  std::uint32_t dimensions = 0;
  std::uint64_t features = 0;
  FileState state{};
  list_slot(in, meta, dimensions, features, state);
  if (features != 0)
    return Status::error(Code::unsupported_version,
                         "NAME.meta: required features {} are not known to this version; use a newer one", features);
  if (state != FileState::open && state != FileState::closed)
    return bad_field(kMetaName, "state", static_cast<std::uint32_t>(state), "1 or 2");
  meta.closed = state == FileState::closed;
  if (meta.session == ~0U) return bad_field(kMetaName, "session", meta.session, "less than 2^32-1");
  TW_RETURN_IF_ERROR(check_geometry(meta.geometry));
  TW_RETURN_IF_ERROR(check_ends(meta));
  TW_RETURN_IF_ERROR(read_shape(slot, dimensions, meta));
  return meta;
}

}  // namespace thalweg::format
