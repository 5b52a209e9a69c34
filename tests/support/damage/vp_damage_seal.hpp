// Recomputes the checksums of changed vpfile files wherever a structure is still recognisable, so that damage reaches
// the checks of the fields. For tests and fuzz targets.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/endian.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg::test {

using VpBytes = std::vector<std::byte>;

// NAME, NAME.meta, NAME.first, NAME.dir; empty: the file does not exist.
struct VpImages {
  VpBytes data, meta, first, overflow;
};

inline constexpr std::uint64_t kMostVpsToSum = std::uint64_t{1} << 20;  // their sums fit in one page

inline bool has_magic(const VpBytes& file, std::uint64_t at, const char* magic) {
  return at + 8 <= file.size() && std::memcmp(file.data() + at, magic, 8) == 0;
}

inline void seal_vp_meta(VpBytes& meta) {
  for (std::size_t at : {std::size_t{0}, format::kMetaSlotStep})
    if (has_magic(meta, at, "TWVPMETA") && at + format::kMetaSlotBytes <= meta.size())
      format::seal_meta(ByteSpan(meta).subspan(at, format::kMetaSlotBytes), at);
}

// The identity that a superblock names.
inline format::FileIdentity identity_in(ByteView superblock) {
  format::FileIdentity id;
  std::memcpy(id.uuid.data(), superblock.data() + 32, id.uuid.size());
  return id;
}

// `image`: the file from the beginning of the superblock, which is `offset`, at least to its end.
inline void seal_superblock(ByteSpan image, std::uint64_t offset = 0) {
  if (image.size() < format::kFrameBytes) return;
  format::seal(image.first(format::kFrameBytes), identity_in(image), offset);
  const auto header = format::parse_superblock_header(image, offset);
  if (!header.has_value()) return;
  const format::VpGeometry& geometry = header.value().geometry;
  if (geometry.superblock_bytes > image.size()) return;
  for (const std::size_t place : format::kFillSlotOffset) {
    const ByteSpan seal = image.subspan(place, format::kFillSlotBytes);
    const auto blocks = load_le<std::uint32_t>(seal), rows = load_le<std::uint32_t>(seal.subspan(4));
    if (load_le<std::uint64_t>(seal.subspan(8)) == 0 || !format::has_room(geometry, blocks, rows)) continue;
    store_le(seal.subspan(16), format::block_crc(image, geometry, blocks));
    store_le(seal.subspan(24), format::table_crc(image, geometry, rows));
    format::seal(seal, header.value().id, offset + place);
  }
}

inline void seal_vp_entries(VpBytes& file, format::DirectoryFile which, const format::FileIdentity& id,
                            std::uint32_t pointers) {
  if (file.size() < format::kDirectoryHeader) return;
  format::seal(ByteSpan(file).first(format::kDirectoryHeader), format::side_identity(id, which), 0);
  const std::uint64_t bytes = format::entry_bytes(pointers);
  for (std::uint64_t at = format::kFirstEntry; at + bytes <= file.size(); at += bytes) {
    const ByteSpan entry = ByteSpan(file).subspan(at, bytes);
    if (!format::all_zero(entry)) format::seal(entry, format::side_identity(id, which), at);
  }
}

// Recomputes the sums of the entries of a side file and returns their total.
inline std::uint64_t seal_vp_sums(VpBytes& meta_file, const VpBytes& file, format::DirectoryFile which,
                                  const format::VpMeta& meta) {
  const bool first = which == format::DirectoryFile::first;
  const std::uint64_t bytes = format::entry_bytes(meta.geometry.pointers);
  const std::uint64_t stored = file.size() > format::kFirstEntry ? (file.size() - format::kFirstEntry) / bytes : 0;
  const std::uint64_t entries = std::min(stored, first ? meta.geometry.n : meta.end_of_entries - 1);
  const std::uint64_t place = format::sums_offset(which, meta.geometry.n);
  std::uint64_t seal = 0;
  for (std::uint64_t begin = 0; begin < entries; begin += format::kEntriesPerSum) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = begin; i < std::min(entries, begin + format::kEntriesPerSum); ++i) {
      const ByteView crc = ByteView(file).subspan(format::kFirstEntry + (i + 1) * bytes - 4, 4);
      sum += format::entry_hash(first ? i : i + 1, load_le<std::uint32_t>(crc));
    }
    const std::uint64_t at = begin / format::kEntriesPerSum;
    if (meta_file.size() < place + 8 * at + 8) meta_file.resize(place + 8 * at + 8);
    store_le(ByteSpan(meta_file).subspan(place + 8 * at), sum);
    seal += format::sum_hash(at, sum);
  }
  return seal;
}

inline void seal_vp_images(VpImages& images) {
  seal_vp_meta(images.meta);
  for (std::uint64_t at = 0; at < images.data.size(); at += format::kLeastSuperblock)
    if (has_magic(images.data, at, "TWFRAME1")) seal_superblock(ByteSpan(images.data).subspan(at), at);
  const auto meta = format::parse_meta(images.meta);
  if (!meta.has_value() || !meta.value().geometry.has_ib()) return;
  const std::uint32_t pointers = meta.value().geometry.pointers;
  seal_vp_entries(images.first, format::DirectoryFile::first, meta.value().id, pointers);
  seal_vp_entries(images.overflow, format::DirectoryFile::overflow, meta.value().id, pointers);
  if (meta.value().geometry.n > kMostVpsToSum) return;
  format::VpMeta sealed = meta.value();
  for (const format::DirectoryFile which : format::kDirectoryFiles) {
    const VpBytes& file = which == format::DirectoryFile::first ? images.first : images.overflow;
    sealed.side_seals[which] = seal_vp_sums(images.meta, file, which, sealed);
  }
  std::ranges::copy(format::encode_meta(sealed),
                    images.meta.begin() + static_cast<std::ptrdiff_t>(format::meta_offset(sealed.sequence)));
}

}  // namespace thalweg::test
