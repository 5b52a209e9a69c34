// Superblocks of a vpfile: blocks of many VPs, a table of their owners, and two fill slots, here called seals, with the
// checksums of table and blocks. Section 3 of docs/format/vpfile.md.
//
// parse_* check every field: they return corrupt_file with the field named.
#pragma once

#include "store/format/field_list.hpp"
#include "store/format/fill_slot.hpp"
#include "vpfile/format/geometry.hpp"

namespace thalweg::format {

inline constexpr std::size_t kRowBytes = 32;
inline constexpr std::uint32_t kBatchRow = ~0U;

// Place of a superblock in its session, and the geometry, as in NAME.meta.
struct SuperblockHeader {
  FileIdentity id;
  std::uint64_t number = 0;
  std::uint32_t session = 1;        // that made it: its blocks hide blocks of earlier sessions
  std::uint32_t previous_rows = 0;  // of `previous`, which was full by then
  std::uint64_t previous = 0;       // number of its task's superblock before it in the session; its own: none
  std::uint64_t before = 0;         // number of superblocks of earlier sessions
  VpGeometry geometry;
  std::uint64_t offset() const { return number * geometry.superblock_bytes; }
};
std::array<std::byte, kFrameBytes> encode_superblock_header(const SuperblockHeader& header);
bool begins_as_superblock(ByteView bytes);
Result<SuperblockHeader> parse_superblock_header(ByteView bytes, std::uint64_t offset);

// Offset of the seal in its superblock.
inline std::size_t seal_offset(const FillSlot& seal) { return kFillSlotOffset[slot_of(seal.count)]; }
std::array<std::byte, kFillSlotBytes> encode_seal(const FillSlot& seal, const SuperblockHeader& header);

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
  // The row names a batch (format/batch.hpp): `blocks` are those of all its VPs, `index` is the base of its positions.
  bool is_batch() const { return bytes == kBatchRow; }
  std::uint64_t all_blocks() const { return is_batch() ? blocks : std::uint64_t{n} * blocks; }
};
template <class Io, class Row>
void list_row(Io io, Row& row) {
  move_fields(io, row.vp, row.index, row.n, row.blocks, row.first_block, row.bytes);
}
inline void encode_row(const SuperblockRow& row, ByteSpan out) { list_row(FieldWriter(out), row); }

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
  FillSlot seal;
  bool damaged = false;  // the blocks do not match their seal, and were not being overwritten
};
// `image`: a whole superblock, with zeros behind the end of the file. corrupt_file: the header, or the tables of both
// seals, do not verify, or the header has another geometry than `geometry`.
Result<ParsedSuperblock> parse_superblock(ByteView image, const FileIdentity& id, std::uint64_t number,
                                          const VpGeometry& geometry);
// Parses row `i` of the table under `seal` and checks every field.
Result<SuperblockRow> parse_row(ByteView image, const VpGeometry& geometry, const FillSlot& seal, std::uint32_t i);
// Checksums for a seal, computed from the image.
std::uint32_t table_crc(ByteView image, const VpGeometry& geometry, std::uint32_t rows);
std::uint32_t block_crc(ByteView image, const VpGeometry& geometry, std::uint32_t blocks);

}  // namespace thalweg::format
