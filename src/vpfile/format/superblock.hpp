// Superblocks of a vpfile: blocks of many VPs, a table of their owners, and two seals with the checksums of table and
// blocks. Section 3 of docs/format/vpfile.md.
//
// parse_* check every field: they return corrupt_file with the field named.
#pragma once

#include "base/endian.hpp"
#include "vpfile/format/geometry.hpp"

namespace thalweg::format {

inline constexpr std::size_t kSuperblockFixed = 124;  // bytes of the header that never change
inline constexpr std::size_t kSealBytes = 32;
inline constexpr std::size_t kSealOffset[2] = {128, 160};  // of odd and of even turns
inline constexpr std::size_t kRowBytes = 32;

// Place of a superblock in its session, and the geometry, as in NAME.meta.
struct SuperblockHeader {
  VpIdentity id{};
  std::uint64_t number = 0;
  std::uint64_t session = 1;        // that made it: its blocks hide blocks of earlier sessions
  std::uint32_t previous_rows = 0;  // of `previous`, which was full by then
  std::uint64_t previous = 0;       // number of its task's superblock before it in the session; its own: none
  std::uint64_t before = 0;         // number of superblocks of earlier sessions
  VpGeometry geometry;
};
std::array<std::byte, kSuperblockHeader> encode_superblock_header(const SuperblockHeader& header);
bool begins_as_superblock(ByteView bytes);
Result<SuperblockHeader> parse_superblock_header(ByteView bytes);

struct Seal {
  std::uint32_t turn = 0;
  bool updating = false;  // sealed blocks were being overwritten
  bool ordered = false;   // what it covers had reached the storage before it was written
  std::uint32_t rows = 0;
  std::uint32_t blocks = 0;
  std::uint32_t table_crc = 0;
  std::uint32_t block_crc = 0;
  std::size_t offset() const { return kSealOffset[turn % 2 == 1 ? 0 : 1]; }
};
std::array<std::byte, kSealBytes> encode_seal(const Seal& seal, const SuperblockHeader& header);

// A row names `blocks` blocks of each of the VPs vp .. vp + n - 1, from block `index` of a VP's IB segment on, VP after
// VP; the first is block `first_block` of the superblock. Each stream has at least index·S + bytes bytes in the IB
// segment (S: bytes of a block).
struct SuperblockRow {
  std::uint64_t vp = 0;
  std::uint64_t index = 0;
  std::uint32_t n = 1;
  std::uint32_t blocks = 0;
  std::uint32_t first_block = 0;
  std::uint32_t bytes = 0;
  bool operator==(const SuperblockRow&) const = default;
};
inline void encode_row(const SuperblockRow& row, ByteSpan out) {
  store_le(out, row.vp);
  store_le(out.subspan(8), row.index);
  store_le(out.subspan(16), row.n);
  store_le(out.subspan(20), row.blocks);
  store_le(out.subspan(24), row.first_block);
  store_le(out.subspan(28), row.bytes);
}

// Offsets of blocks and rows in a superblock of `geometry`.
inline std::uint64_t block_offset(const VpGeometry& geometry, std::uint64_t block) {
  return (geometry.header_blocks() + block) * geometry.block_bytes;
}
inline std::uint64_t row_offset(const VpGeometry& geometry, std::uint64_t row) {
  return geometry.superblock_bytes - kRowBytes * (row + 1);
}
inline bool has_room(const VpGeometry& geometry, std::uint64_t blocks, std::uint64_t rows) {
  return block_offset(geometry, blocks) + kRowBytes * rows <= geometry.superblock_bytes;
}

// A superblock as it is stored.
struct ParsedSuperblock {
  SuperblockHeader header;
  Seal seal;
  bool damaged = false;  // the blocks do not match their seal, and were not being overwritten
};
// `image`: a whole superblock, with zeros behind the end of the file. corrupt_file: the header, or the tables of both
// seals, do not verify, or the header has another geometry than `geometry`, unless that has no IB segment.
Result<ParsedSuperblock> parse_superblock(ByteView image, const VpIdentity& id, std::uint64_t number,
                                          const VpGeometry& geometry);
// Parses row `i` of the table under `seal` and checks every field.
Result<SuperblockRow> parse_row(ByteView image, const VpGeometry& geometry, const Seal& seal, std::uint32_t i);
// Checksums for a seal, computed from the image.
std::uint32_t table_crc(ByteView image, const VpGeometry& geometry, std::uint32_t rows);
std::uint32_t block_crc(ByteView image, const VpGeometry& geometry, std::uint32_t blocks);

}  // namespace thalweg::format
