#include "vpfile/format/batch.hpp"

#include <algorithm>
#include <utility>

#include "base/crc32c.hpp"
#include "base/size_units.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg::format {

namespace {

constexpr const char* kWhat = "NAME.batches";

template <class Io, class Of>
void list_batch(Io io, Of& b) {
  move_fields(io, b.vp, b.superblock, b.base, b.least, b.most, b.n, b.first_block, b.blocks, b.unused);
}

Status check_batch(const Batch& batch, const VpGeometry& geometry) {
  if (batch.vp >= geometry.n || batch.n < 1 || batch.n > geometry.n - batch.vp)
    return bad_field(kWhat, "vp", batch.vp, "what the shape has");
  if (batch.superblock < geometry.first_superblock || batch.superblock >= kMostOffset / geometry.superblock_bytes)
    return bad_field(kWhat, "superblock", batch.superblock, "one behind the lattice");
  const std::uint64_t blocks = std::uint64_t{batch.first_block} + batch.blocks;
  if (!has_room(geometry, blocks, 1)) return bad_field(kWhat, "blocks", batch.blocks, "what a superblock has");
  if (kPieceBytes * batch.n > std::uint64_t{batch.blocks} * geometry.block_bytes)
    return bad_field(kWhat, "number of VPs", batch.n, "what the blocks have room for");
  return {};
}

}  // namespace

std::optional<Batch> batch_of(const SuperblockRow& row, std::uint64_t superblock, ByteView image,
                              const VpGeometry& geometry) {
  Batch batch{row.vp, superblock, row.index, ~std::uint64_t{0}, 0, row.n, row.first_block, row.blocks};
  const ByteView bytes = bytes_of(batch, image, geometry);
  for (std::uint64_t i = 0; i < batch.n; ++i) {
    const auto piece = piece_in(bytes, batch, i);
    if (!piece.has_value()) return std::nullopt;
    if (piece->is_empty()) continue;
    batch.least = std::min(batch.least, piece->begin);
    batch.most = std::max(batch.most, piece->end);
  }
  return batch.most > kMostOffset - geometry.lattice_bytes() || batch.most == 0 ? std::nullopt : std::optional(batch);
}

void sort_batches(std::vector<Batch>& batches) {
  std::ranges::sort(batches, {}, [](const Batch& batch) { return std::pair(batch.superblock, batch.first_block); });
}

std::vector<std::byte> encode_batches(std::span<const Batch> batches, const FileIdentity& id,
                                      const VpGeometry& geometry) {
  std::vector<std::byte> file(kFirstBatch + kBatchBytes * batches.size());
  std::ranges::copy(encode_directory_header(DirectoryFile::batches, id, geometry), file.begin());
  for (std::size_t i = 0; i < batches.size(); ++i)
    list_batch(FieldWriter(ByteSpan(file).subspan(kFirstBatch + kBatchBytes * i, kBatchBytes)), batches[i]);
  return file;
}

std::uint32_t batches_crc(ByteView file) { return crc32c(file.subspan(kFirstBatch)); }

Result<std::vector<Batch>> parse_batches(ByteView file, std::uint64_t count, const VpGeometry& geometry) {
  std::vector<Batch> batches(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    list_batch(FieldReader(file.subspan(kFirstBatch + kBatchBytes * i, kBatchBytes)), batches[i]);
    TW_RETURN_IF_ERROR(check_batch(batches[i], geometry));
  }
  return batches;
}

}  // namespace thalweg::format
