#include "vpfile/format/meta.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/checked_math.hpp"
#include "base/crc32c.hpp"
#include "base/fields.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kMetaMagic = "TWVPMETA";
constexpr const char* kMetaName = "NAME.meta";
constexpr std::size_t kStateBytes =
    512;                              // a sector, which the death of a machine does not tear; the shape is behind it
constexpr std::size_t kCrcBytes = 4;  // at the end of both
constexpr std::size_t kIdOffset = 24;
constexpr std::uint32_t kOpen = 1;
constexpr std::uint32_t kClosed = 2;

std::uint32_t state_crc(ByteView slot) { return crc32c(slot.first(kStateBytes - kCrcBytes)); }

// The checksum covers the identity, so that a shape left in this place by another vpfile does not verify.
std::uint32_t shape_crc(ByteView slot) {
  const std::uint32_t id = crc32c(slot.subspan(kIdOffset, sizeof(VpIdentity)));
  return crc32c(slot.subspan(kStateBytes, kMetaSlotBytes - kStateBytes - kCrcBytes), id);
}

bool verifies(ByteView slot) {
  return FieldReader(slot).get_magic(kMetaMagic) &&
         state_crc(slot) == load_le<std::uint32_t>(slot.subspan(kStateBytes - kCrcBytes)) &&
         shape_crc(slot) == load_le<std::uint32_t>(slot.subspan(kMetaSlotBytes - kCrcBytes));
}

// The numbers of a slot behind its flags, in the order of the table in the format document.
template <class Meta, class Visit>
void each_number_of_slot(Meta& meta, Visit visit) {
  auto& geometry = meta.geometry;
  for (auto* number :
       {&geometry.n, &geometry.record_bytes, &geometry.nb_bytes, &geometry.buffer_bytes, &geometry.cb_bytes})
    visit(*number);
  std::uint32_t unused = 0;
  visit(geometry.block_bytes);
  visit(geometry.superblock_bytes);
  visit(geometry.pointers);
  visit(unused);
  for (auto* number :
       {&geometry.first_superblock, &meta.end_of_superblocks, &meta.end_of_entries, &meta.ib_bytes, &meta.session,
        &meta.side_bytes[DirectoryFile::first], &meta.side_bytes[DirectoryFile::overflow], &meta.data_bytes,
        &meta.side_seals[DirectoryFile::first], &meta.side_seals[DirectoryFile::overflow], &meta.superblocks})
    visit(*number);
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
                                  {"seal of NAME.dir", meta.side_seals[DirectoryFile::overflow]}});
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
  out.put_magic(kMetaMagic).put(meta.major).put(meta.minor).put(static_cast<std::uint32_t>(meta.shape.size()));
  out.put(meta.sequence).put_bytes(meta.id).put(std::uint64_t{0});
  out.put(meta.closed ? kClosed : kOpen).put(std::uint32_t{meta.durable});
  each_number_of_slot(meta, [&](const auto& number) { out.put(number); });
  FieldWriter dimensions(ByteSpan(slot).subspan(kStateBytes));
  for (std::size_t i = 0; i + 1 < meta.shape.size(); ++i) dimensions.put(meta.shape[i]);
  seal_meta(slot);
  return slot;
}

void seal_meta(ByteSpan slot) {
  store_le<std::uint32_t>(slot.subspan(kStateBytes - kCrcBytes), state_crc(slot));
  store_le<std::uint32_t>(slot.subspan(kMetaSlotBytes - kCrcBytes), shape_crc(slot));
}

Result<ByteView> find_meta_slot(ByteView file) {
  std::optional<ByteView> holds;
  std::uint64_t highest = 0;
  for (const std::size_t at : {std::size_t{0}, kMetaSlotStep}) {
    if (at + kMetaSlotBytes > file.size()) break;
    const ByteView slot = file.subspan(at, kMetaSlotBytes);
    if (FieldReader(slot).get_magic(kMetaMagic)) TW_RETURN_IF_ERROR(check_version(slot));
    const auto sequence = load_le<std::uint64_t>(slot.subspan(16));
    if (!verifies(slot) || sequence <= highest || meta_offset(sequence) != at) continue;
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
  meta.major = in.get<std::uint16_t>();
  meta.minor = in.get<std::uint16_t>();
  const auto dimensions = in.get<std::uint32_t>();
  meta.sequence = in.get<std::uint64_t>();
  std::ranges::copy(in.get_bytes(meta.id.size()), meta.id.begin());
  const auto features = in.get<std::uint64_t>();
  if (features != 0)
    return Status::error(Code::unsupported_version,
                         "NAME.meta: required features {} are not known to this version; use a newer one", features);
  const auto state = in.get<std::uint32_t>();
  if (state != kOpen && state != kClosed) return bad_field(kMetaName, "state", state, "1 or 2");
  meta.closed = state == kClosed;
  meta.durable = (in.get<std::uint32_t>() & 1) != 0;
  each_number_of_slot(meta, [&](auto& number) { number = in.get<std::remove_reference_t<decltype(number)>>(); });
  TW_RETURN_IF_ERROR(check_geometry(meta.geometry));
  TW_RETURN_IF_ERROR(check_ends(meta));
  TW_RETURN_IF_ERROR(read_shape(slot, dimensions, meta));
  return meta;
}

}  // namespace thalweg::format
