#include "vpfile/format/batch.hpp"

#include <algorithm>
#include <utility>

#include "base/size_units.hpp"

namespace thalweg::format {

namespace {

constexpr const char* kList = "NAME.batches";

template <class Io, class Of>
void list_batch(Io io, Of& b) {
  move_fields(io, b.vp, b.superblock, b.base, b.least, b.most, b.n, b.first_block, b.blocks, b.lost);
}

Status check_batch(const Batch& batch, const VpMeta& meta) {
  const VpGeometry& geometry = meta.geometry;
  if (batch.lost > 1) return bad_field(kList, "lost", batch.lost, "0 or 1");
  if (batch.vp >= geometry.n || batch.n + batch.lost < 1 || batch.n > geometry.n - batch.vp)
    return bad_field(kList, "vp", batch.vp, "what the shape has");
  if (batch.superblock < geometry.first_superblock || batch.superblock >= meta.end_of_superblocks)
    return bad_field(kList, "superblock", batch.superblock, "one that the file has");
  if (batch.base >= kMostBegin || batch.least >= batch.most || batch.most > kMostOffset - geometry.lattice_bytes())
    return bad_field(kList, "base, least or most", batch.most, "places in streams");
  const std::uint64_t blocks = std::uint64_t{batch.first_block} + batch.blocks;
  if (!has_room(geometry, blocks, 1)) return bad_field(kList, "blocks", batch.blocks, "what a superblock has");
  if (kPieceBytes * batch.n > std::uint64_t{batch.blocks} * geometry.block_bytes)
    return bad_field(kList, "number of VPs", batch.n, "what the blocks have room for");
  return {};
}

}  // namespace

std::optional<Batch> batch_of(const SuperblockRow& row, std::uint64_t superblock, ByteView image,
                              const VpGeometry& geometry) {
  Batch batch{row.vp, superblock, row.index, ~std::uint64_t{0}, 0, row.n, row.first_block, row.blocks};
  const ByteView bytes = bytes_of(batch, image, geometry);
  for (std::uint64_t i = 0; i < batch.n; ++i) {
    const auto piece = piece_in(bytes, batch, i);
    const bool is_lost = !piece.has_value() || (i == 0 && piece->is_empty());  // zeros are no table
    if (is_lost) return std::nullopt;
    if (piece->is_empty()) continue;
    batch.least = std::min(batch.least, piece->begin);
    batch.most = std::max(batch.most, piece->end);
  }
  return batch.most > kMostOffset - geometry.lattice_bytes() || batch.most == 0 ? std::nullopt : std::optional(batch);
}

Batch lost_batch(std::uint64_t superblock, const SuperblockRow& row, const VpGeometry& geometry) {
  return {row.vp, superblock, 0, 0, kMostOffset - geometry.lattice_bytes(), row.n, row.first_block, row.blocks, 1};
}

void sort_batches(std::vector<Batch>& batches) {
  std::ranges::sort(batches, {}, [](const Batch& batch) { return std::pair(batch.superblock, batch.first_block); });
}

std::vector<std::byte> encode_batches(std::span<const Batch> batches) {
  std::vector<std::byte> bytes(kBatchBytes * batches.size());
  for (std::size_t i = 0; i < batches.size(); ++i)
    list_batch(FieldWriter(ByteSpan(bytes).subspan(kBatchBytes * i, kBatchBytes)), batches[i]);
  return bytes;
}

Result<std::vector<Batch>> parse_batches(ByteView file, const VpMeta& meta) {
  std::vector<Batch> batches(meta.batches);
  for (std::uint64_t i = 0; i < batches.size(); ++i) {
    Batch& batch = batches[i];
    list_batch(FieldReader(file.subspan(kFirstBatch + kBatchBytes * i, kBatchBytes)), batch);
    TW_RETURN_IF_ERROR(check_batch(batch, meta));
    if (i == 0 || batches[i - 1].superblock < batch.superblock) continue;
    const bool behind = batches[i - 1].superblock == batch.superblock &&
                        batch.first_block >= std::uint64_t{batches[i - 1].first_block} + batches[i - 1].blocks;
    if (!behind) return corrupt("{}: entry {} is not behind the one before", kList, i);
  }
  return batches;
}

}  // namespace thalweg::format
