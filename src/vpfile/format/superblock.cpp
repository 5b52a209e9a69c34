#include "vpfile/format/superblock.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/crc32c.hpp"
#include "base/size_units.hpp"
#include "vpfile/format/batch.hpp"

namespace thalweg::format {

namespace {

constexpr const char* kHeader = "superblock header";
constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

template <class Io, class Header>
void list_superblock(Io& io, Header& h, FrameKind& kind, std::uint64_t& extent, std::uint64_t& data_offset) {
  auto& g = h.geometry;
  move_fields(io, kind, h.session, extent, data_offset, h.id, g.n, g.record_bytes, g.nb_bytes, g.buffer_bytes,
              g.cb_bytes, g.first_superblock, g.block_bytes, g.pointers, h.previous_rows, h.previous, h.before);
}

// None: it was never written, or is not whole.
std::optional<FillSlot> parse_seal(ByteView image, int place, const SuperblockHeader& header) {
  const std::uint64_t at = kFillSlotOffset[place];
  const auto seal = parse_fill(image.subspan(at, kFillSlotBytes), header.id, header.offset() + at, kAnyBytes);
  if (!seal.has_value() || slot_of(seal->count) != place || !has_room(header.geometry, seal->blocks(), seal->rows()))
    return std::nullopt;
  return seal->table_seal == table_crc(image, header.geometry, seal->rows()) ? seal : std::nullopt;
}

bool blocks_match(ByteView image, const VpGeometry& geometry, const FillSlot& seal) {
  return block_crc(image, geometry, seal.blocks()) == seal.tail_seal;
}

Status check_superblock(const SuperblockHeader& header) {
  const VpGeometry& geometry = header.geometry;
  TW_RETURN_IF_ERROR(check_geometry(geometry));
  if (header.number < geometry.first_superblock || header.number >= kMostOffset / geometry.superblock_bytes)
    return bad_field(kHeader, "number", header.number, "what is behind the lattice and below 2^63");
  if (header.previous < geometry.first_superblock || header.previous > header.number)
    return bad_field(kHeader, "previous superblock", header.previous, "at most its own number");
  if (header.previous == header.number && header.previous_rows != 0)
    return bad_field(kHeader, "rows of the previous superblock", header.previous_rows, "0");
  return {};
}

}  // namespace

std::array<std::byte, kFrameBytes> encode_superblock_header(const SuperblockHeader& header) {
  std::array<std::byte, kFrameBytes> bytes{};
  FieldWriter out(bytes);
  FrameKind kind = FrameKind::superblock;
  std::uint64_t extent = header.geometry.superblock_bytes, data_offset = block_offset(header.geometry, 0);
  out.put_magic(kFrameMagic);
  list_superblock(out, header, kind, extent, data_offset);
  seal(bytes, header.id, header.offset());
  return bytes;
}

bool begins_as_superblock(ByteView bytes) { return begins_with(bytes, kFrameMagic); }

Result<SuperblockHeader> parse_superblock_header(ByteView bytes, std::uint64_t offset) {
  if (bytes.size() < kFrameBytes) return bad_size(kHeader, bytes.size(), kFrameBytes);
  FieldReader in(bytes);
  if (!in.get_magic(kFrameMagic)) return corrupt("superblock header: wrong magic");
  SuperblockHeader header;
  FrameKind kind{};
  std::uint64_t extent = 0, data_offset = 0;
  list_superblock(in, header, kind, extent, data_offset);
  if (!is_sealed(bytes.first(kFrameBytes), header.id, offset))
    return corrupt("superblock header: its checksum does not match");
  VpGeometry& geometry = header.geometry;
  if (kind != FrameKind::superblock) return bad_field(kHeader, "kind", static_cast<std::uint32_t>(kind), "3");
  if (!geometry.has_ib()) return bad_field(kHeader, "block bytes", 0, "16 to 1048576");
  if (extent == 0 || extent > kMostSuperblock || offset % extent != 0)
    return corrupt("{}: its extent is {}; it must be at most 2^24 and divide the offset {}", kHeader, extent, offset);
  geometry.superblock_bytes = static_cast<std::uint32_t>(extent);
  header.number = offset / extent;
  TW_RETURN_IF_ERROR(check_superblock(header));
  if (data_offset == block_offset(geometry, 0)) return header;
  return bad_field(kHeader, "data offset", data_offset, std::to_string(block_offset(geometry, 0)));
}

std::array<std::byte, kFillSlotBytes> encode_seal(const FillSlot& seal, const SuperblockHeader& header) {
  return encode_fill(seal, header.id, header.offset() + seal_offset(seal));
}

Result<ParsedSuperblock> parse_superblock(ByteView image, const FileIdentity& id, std::uint64_t number,
                                          const VpGeometry& geometry) {
  const std::string name = fmt::format("superblock {}", number);
  auto header = parse_superblock_header(image, number * geometry.superblock_bytes);
  if (!header.has_value()) return header.error().with_context(name);
  if (header->id != id) return corrupt("{}: it belongs to another file", name);
  if (header->geometry != geometry) return corrupt("{}: its layout differs from that in NAME.meta", name);
  if (image.size() != geometry.superblock_bytes) return bad_size("superblock", image.size(), geometry.superblock_bytes);
  const auto odd = parse_seal(image, 0, *header), even = parse_seal(image, 1, *header);
  if (!odd.has_value() && !even.has_value()) return corrupt("{}: no seal of its table matches", name);
  const bool odd_holds = odd.has_value() && (!even.has_value() || odd->count > even->count);
  const auto& other = odd_holds ? even : odd;
  ParsedSuperblock parsed{*header, odd_holds ? *odd : *even};
  if (parsed.seal.updating || blocks_match(image, geometry, parsed.seal)) return parsed;
  parsed.damaged = !other.has_value() || !blocks_match(image, geometry, *other);
  if (!parsed.damaged) parsed.seal = *other;
  return parsed;
}

Result<SuperblockRow> parse_row(ByteView image, const VpGeometry& geometry, const FillSlot& seal, std::uint32_t i) {
  SuperblockRow row;
  list_row(FieldReader(image.subspan(row_offset(geometry, i), kRowBytes)), row);
  constexpr const char* kWhat = "row of a superblock";
  if (row.vp >= geometry.n) return bad_field(kWhat, "vp", row.vp, fmt::format("less than {}", geometry.n));
  if (row.n < 1 || row.n > geometry.n - row.vp)
    return bad_field(kWhat, "number of VPs", row.n, fmt::format("1 to {}", geometry.n - row.vp));
  const std::uint64_t blocks = row.all_blocks();
  if (row.blocks > seal.blocks() || row.first_block > seal.blocks() || blocks > seal.blocks() - row.first_block)
    return bad_field(kWhat, "blocks", row.blocks, "what the superblock has");
  if (row.is_batch()) {
    if (std::uint64_t{row.n} * kPieceBytes > blocks * geometry.block_bytes || row.index > kMostOffset / 2)
      return bad_field(kWhat, "number of VPs", row.n, "what the blocks of a batch have room for");
    return row;
  }
  if (row.index > kMostOffset / geometry.block_bytes - row.blocks - 1)
    return bad_field(kWhat, "index", row.index, "what ends below 2^63");
  if (row.bytes > std::uint64_t{std::max(row.blocks, 1U)} * geometry.block_bytes)
    return bad_field(kWhat, "bytes", row.bytes, "at most the blocks");
  return row;
}

std::uint32_t table_crc(ByteView image, const VpGeometry& geometry, std::uint32_t rows) {
  const std::uint64_t bytes = kRowBytes * std::uint64_t{rows};
  return crc32c(image.subspan(geometry.superblock_bytes - bytes, bytes));
}

std::uint32_t block_crc(ByteView image, const VpGeometry& geometry, std::uint32_t blocks) {
  return crc32c(image.subspan(block_offset(geometry, 0), std::uint64_t{blocks} * geometry.block_bytes));
}

}  // namespace thalweg::format
