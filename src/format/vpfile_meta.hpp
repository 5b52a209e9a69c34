// NAME.meta of a vpfile: its shape and where its segments are. Section 2 of docs/format/vpfile.md.
//
// parse_* never trust a field: they return corrupt_file or unsupported_version with the field named.
#pragma once

#include <vector>

#include "base/endian.hpp"
#include "format/vpfile_geometry.hpp"

namespace thalweg::format {

inline constexpr std::size_t kMetaSlotBytes = 1024;
inline constexpr std::size_t kMetaBytes = 2 * kMetaSlotBytes;

struct VpMeta {
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
  std::uint64_t sequence = 1;
  VpIdentity id{};
  bool closed = false;
  bool durable = false;  // something was synced
  VpGeometry geometry;
  std::uint64_t end_of_superblocks = 0;
  std::uint64_t end_of_entries = 0;  // of NAME.dir
  std::uint64_t ib_bytes = 0;        // of all streams; informational
  std::uint64_t session = 0;         // openings for writing so far
  std::uint64_t first_bytes = 0;     // of NAME.first: it has so many, or was cut off
  std::vector<std::uint64_t> shape;
};

// N of a shape: out_of_range when it has no dimension, more than 64, an empty one, or more than 2^40 VPs.
Result<std::uint64_t> count_vps(const std::vector<std::uint64_t>& shape);
std::array<std::byte, kMetaSlotBytes> encode_meta(const VpMeta& meta);
bool begins_as_meta(ByteView slot);
// Where the slot of this sequence belongs.
inline std::uint64_t meta_offset(std::uint64_t sequence) { return sequence % 2 == 1 ? 0 : kMetaSlotBytes; }
// The slot that holds, of the whole file.
Result<VpMeta> parse_meta(ByteView file);

}  // namespace thalweg::format
