// NAME.meta of a vpfile: shape and places of the segments. Section 2 of docs/format/vpfile.md.
//
// parse_* check every field: they return corrupt_file or unsupported_version with the field named.
#pragma once

#include <string>
#include <vector>

#include "store/format/bound_seal.hpp"
#include "vpfile/format/geometry.hpp"

namespace thalweg::format {

inline constexpr std::uint16_t kVpMajor = 5;  // the one version that is read and written
inline constexpr std::size_t kMetaSlotBytes = 1024;
inline constexpr std::size_t kMetaSlotStep = 4096;  // one page per slot: a lost page loses one slot
inline constexpr std::size_t kMetaBytes = kMetaSlotStep + kMetaSlotBytes;

struct VpMeta {
  std::uint16_t major = kVpMajor;
  std::uint16_t minor = 0;
  std::uint64_t sequence = 1;
  FileIdentity id;
  bool closed = false;
  bool durable = false;  // something was synced
  VpGeometry geometry;
  std::uint64_t end_of_superblocks = 0;
  std::uint64_t end_of_entries = 0;  // of NAME.dir
  std::uint64_t ib_bytes = 0;        // of all streams; informational
  std::uint32_t session = 0;         // openings for writing so far
  std::uint64_t superblocks = 0;     // number of them at the last close
  // Bytes of the side files and of the data file at the last close: a shorter file was cut off.
  PerDirectoryFile<std::uint64_t> side_bytes;
  std::uint64_t data_bytes = 0;
  PerDirectoryFile<std::uint64_t> side_seals;  // of the sums of their entries (vpfile/format/directory.hpp)
  std::uint64_t batches = 0;                   // number of them in NAME.batches, which is there unless it is 0
  std::uint64_t batches_seal = 0;              // checksum of the list
  std::vector<std::uint64_t> shape;
};

inline std::string vp_meta_path(const std::string& path) { return path + ".meta"; }
inline std::string vp_side_path(const std::string& path, DirectoryFile which) {
  if (which == DirectoryFile::batches) return path + ".batches";
  return path + (which == DirectoryFile::first ? ".first" : ".dir");
}
inline std::array<std::string, 4> vp_side_paths(const std::string& path) {
  return {vp_meta_path(path), vp_side_path(path, DirectoryFile::first), vp_side_path(path, DirectoryFile::overflow),
          vp_side_path(path, DirectoryFile::batches)};
}

// N of a shape: out_of_range when it has no dimension, more than 64, an empty one, or more than 2^40 VPs.
Result<std::uint64_t> count_vps(const std::vector<std::uint64_t>& shape);
std::array<std::byte, kMetaSlotBytes> encode_meta(const VpMeta& meta);
void seal_meta(ByteSpan slot, std::uint64_t offset);  // its two checksums, as encode_meta() writes them
bool begins_as_meta(ByteView slot);
// Offset of the slot with this sequence number.
inline std::uint64_t meta_offset(std::uint64_t sequence) { return slot_of(sequence) * kMetaSlotStep; }
// Finds the valid slot with the highest sequence number in the whole file or its first kMetaBytes bytes; borrowed from
// it.
Result<ByteView> find_meta_slot(ByteView file);
Result<VpMeta> parse_meta_slot(ByteView slot);  // one that was found
inline Result<VpMeta> parse_meta(ByteView file) {
  TW_ASSIGN_OR_RETURN(const ByteView slot, find_meta_slot(file));
  return parse_meta_slot(slot);
}

}  // namespace thalweg::format
