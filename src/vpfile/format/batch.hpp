// Batches: the pieces that consecutive VPs append in one access, one behind the other in blocks of one superblock, with
// a table of their lengths. A row names a batch; NAME.batches lists those of a closed file. Section 8 of
// docs/format/vpfile.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vpfile/format/meta.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kPieceBytes = 8;                      // of a piece in the table
inline constexpr std::uint64_t kBatchBytes = 56;                     // of a batch in NAME.batches
inline constexpr std::uint64_t kFirstBatch = 64;                     // offset in NAME.batches
inline constexpr std::uint64_t kMostBegin = std::uint64_t{1} << 62;  // of a piece
inline constexpr std::uint64_t kMostBatches = std::uint64_t{1} << 32;

struct Batch {
  std::uint64_t vp = 0;  // the first of n
  std::uint64_t superblock = 0;
  std::uint64_t base = 0;   // positions in the table count from here
  std::uint64_t least = 0;  // no piece begins below it, in the IB segment of its stream
  std::uint64_t most = 0;   // no piece ends above it
  std::uint32_t n = 0;
  std::uint32_t first_block = 0;
  std::uint32_t blocks = 0;
  std::uint32_t lost = 0;  // 1: its superblock is damaged; n is 0 where its rows are unknown, too
  bool operator==(const Batch&) const = default;
  bool has(std::uint64_t which) const { return which - vp < n; }
};

// A piece: bytes begin .. end-1 of the IB segment of a stream, from byte `at` of the batch on; empty where the VP had
// none.
struct BatchPiece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t at = 0;
  bool is_empty() const { return begin == end; }
};

// An entry of the table: `past_base`, the begin of the piece in its stream less the base of the batch; `end`, the end of
// its bytes in the batch. The bytes begin at the end of the entry before.
inline std::uint64_t encode_piece(std::uint64_t past_base, std::uint64_t end) {
  return std::uint64_t{static_cast<std::uint32_t>(past_base)} | end << 32;
}
inline std::uint64_t table_in_batch(std::uint64_t bytes, std::uint64_t n) { return bytes - kPieceBytes * n; }
// Piece number `i` of a batch, whose blocks are `bytes`. No value: the table is not valid.
inline std::optional<BatchPiece> piece_in(ByteView bytes, const Batch& batch, std::uint64_t i) {
  const std::uint64_t table = table_in_batch(bytes.size(), batch.n);
  const ByteView entry = bytes.subspan(table + kPieceBytes * i);
  const std::uint64_t at = i == 0 ? 0 : load_le<std::uint32_t>(bytes.subspan(table + kPieceBytes * i - 4));
  const std::uint64_t end = load_le<std::uint32_t>(entry.subspan(4));
  const std::uint64_t begin =
      batch.base + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(load_le<std::uint32_t>(entry))});
  if (at > end || end > table || (at < end && begin > kMostBegin)) [[unlikely]]
    return std::nullopt;
  return BatchPiece{begin, begin + (end - at), at};
}

// The batch that a row names, with `least` and `most` of its pieces, once its table is checked. `image`: of the whole
// superblock. No value: the table is not valid.
std::optional<Batch> batch_of(const SuperblockRow& row, std::uint64_t superblock, ByteView image,
                              const VpGeometry& geometry);

// That of a damaged superblock, whose pieces are unknown and may lie anywhere in their streams.
Batch lost_batch(std::uint64_t superblock, const SuperblockRow& row, const VpGeometry& geometry);

// The bytes of a batch in its superblock.
inline ByteView bytes_of(const Batch& batch, ByteView image, const VpGeometry& geometry) {
  return image.subspan(block_offset(geometry, batch.first_block), std::uint64_t{batch.blocks} * geometry.block_bytes);
}
// Bytes of all pieces of the batch that takes `bytes`.
inline std::uint64_t piece_bytes(ByteView bytes) { return load_le<std::uint32_t>(bytes.last(4)); }
void sort_batches(std::vector<Batch>& batches);  // in the order in which they were made

std::vector<std::byte> encode_batches(std::span<const Batch> batches);  // entries of NAME.batches
// corrupt_file where a field is not legal.
Result<std::vector<Batch>> parse_batches(ByteView file, const VpMeta& meta);

}  // namespace thalweg::format
