#include "vpfile/format/superblock.hpp"

#include <algorithm>
#include <string>

#include "base/crc32c.hpp"
#include "base/fields.hpp"
#include "base/size_units.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kSuperblockMagic = "TWVPSUPR";
constexpr std::size_t kSuperblockCrcOffset = 120;
constexpr std::size_t kSealCrcOffset = 28;

std::string name_of(std::uint64_t number) { return "superblock " + std::to_string(number); }

constexpr std::uint32_t kUpdating = 1;  // flags of a seal
constexpr std::uint32_t kOrdered = 2;

std::uint32_t seal_crc(ByteView seal, const VpIdentity& id, std::uint64_t number) {
  std::array<std::byte, 8> bytes;
  store_le<std::uint64_t>(bytes, number);
  return crc32c(seal.first(kSealCrcOffset), crc32c(bytes, crc32c(id)));
}

// None: it was never written, or is not whole.
std::optional<Seal> parse_seal(ByteView image, int place, const SuperblockHeader& header) {
  const ByteView bytes = image.subspan(kSealOffset[place], kSealBytes);
  FieldReader in(bytes);
  Seal seal;
  seal.turn = in.get<std::uint32_t>();
  const auto flags = in.get<std::uint32_t>();
  seal.updating = (flags & kUpdating) != 0;
  seal.ordered = (flags & kOrdered) != 0;
  seal.rows = in.get<std::uint32_t>();
  seal.blocks = in.get<std::uint32_t>();
  seal.table_crc = in.get<std::uint32_t>();
  seal.block_crc = in.get<std::uint32_t>();
  const bool stands_there = seal.turn != 0 && seal.offset() == kSealOffset[place];
  if (!stands_there ||
      load_le<std::uint32_t>(bytes.subspan(kSealCrcOffset)) != seal_crc(bytes, header.id, header.number))
    return std::nullopt;
  if (!has_room(header.geometry, seal.blocks, seal.rows)) return std::nullopt;
  if (seal.table_crc != table_crc(image, header.geometry, seal.rows)) return std::nullopt;
  return seal;
}

bool blocks_match(ByteView image, const VpGeometry& geometry, const Seal& seal) {
  return block_crc(image, geometry, seal.blocks) == seal.block_crc;
}

}  // namespace

std::array<std::byte, kSuperblockHeader> encode_superblock_header(const SuperblockHeader& header) {
  std::array<std::byte, kSuperblockHeader> bytes{};
  const VpGeometry& geometry = header.geometry;
  FieldWriter out(bytes);
  out.put_magic(kSuperblockMagic).put_bytes(header.id).put(header.number);
  out.put(geometry.n).put(geometry.record_bytes).put(geometry.nb_bytes).put(geometry.buffer_bytes);
  out.put(geometry.cb_bytes).put(geometry.first_superblock).put(header.session);
  out.put(geometry.block_bytes).put(geometry.superblock_bytes).put(geometry.pointers);
  out.put(header.previous_rows).put(header.previous).put(header.before);
  out.put(crc32c(ByteView(bytes).first(kSuperblockCrcOffset)));
  return bytes;
}

bool begins_as_superblock(ByteView bytes) {
  return bytes.size() >= kSuperblockMagic.size() && FieldReader(bytes).get_magic(kSuperblockMagic);
}

Result<SuperblockHeader> parse_superblock_header(ByteView bytes) {
  if (bytes.size() < kSuperblockHeader) return bad_size("superblock header", bytes.size(), kSuperblockHeader);
  FieldReader in(bytes);
  if (!in.get_magic(kSuperblockMagic)) return corrupt("superblock header: wrong magic");
  SuperblockHeader header;
  VpGeometry& geometry = header.geometry;
  std::ranges::copy(in.get_bytes(header.id.size()), header.id.begin());
  header.number = in.get<std::uint64_t>();
  geometry.n = in.get<std::uint64_t>();
  geometry.record_bytes = in.get<std::uint64_t>();
  geometry.nb_bytes = in.get<std::uint64_t>();
  geometry.buffer_bytes = in.get<std::uint64_t>();
  geometry.cb_bytes = in.get<std::uint64_t>();
  geometry.first_superblock = in.get<std::uint64_t>();
  header.session = in.get<std::uint64_t>();
  geometry.block_bytes = in.get<std::uint32_t>();
  geometry.superblock_bytes = in.get<std::uint32_t>();
  geometry.pointers = in.get<std::uint32_t>();
  header.previous_rows = in.get<std::uint32_t>();
  header.previous = in.get<std::uint64_t>();
  header.before = in.get<std::uint64_t>();
  if (load_le<std::uint32_t>(bytes.subspan(kSuperblockCrcOffset)) != crc32c(bytes.first(kSuperblockCrcOffset)))
    return corrupt("superblock header: its checksum does not match");
  if (!geometry.has_ib()) return bad_field("superblock header", "block bytes", 0, "16 to 1048576");
  TW_RETURN_IF_ERROR(check_geometry(geometry));
  const std::uint64_t end = kMostOffset / geometry.superblock_bytes;
  if (header.number < geometry.first_superblock || header.number >= end)
    return bad_field("superblock header", "number", header.number, "what is behind the lattice and below 2^63");
  if (header.previous < geometry.first_superblock || header.previous > header.number)
    return bad_field("superblock header", "previous superblock", header.previous, "at most its own number");
  if (header.previous == header.number && header.previous_rows != 0)
    return bad_field("superblock header", "rows of the previous superblock", header.previous_rows, "0");
  return header;
}

std::array<std::byte, kSealBytes> encode_seal(const Seal& seal, const SuperblockHeader& header) {
  std::array<std::byte, kSealBytes> bytes{};
  FieldWriter out(bytes);
  out.put(seal.turn)
      .put((seal.updating ? kUpdating : 0) | (seal.ordered ? kOrdered : 0))
      .put(seal.rows)
      .put(seal.blocks);
  out.put(seal.table_crc).put(seal.block_crc);
  store_le<std::uint32_t>(ByteSpan(bytes).subspan(kSealCrcOffset), seal_crc(bytes, header.id, header.number));
  return bytes;
}

Result<ParsedSuperblock> parse_superblock(ByteView image, const VpIdentity& id, std::uint64_t number,
                                          const VpGeometry& geometry) {
  ParsedSuperblock parsed;
  auto header = parse_superblock_header(image);
  if (!header.has_value()) return header.error().with_context(name_of(number));
  parsed.header = header.value();
  if (parsed.header.id != id || parsed.header.number != number)
    return corrupt(name_of(number) + ": it belongs to another place or file");
  if (geometry.has_ib() && parsed.header.geometry != geometry)
    return corrupt(name_of(number) + ": it tells another layout than NAME.meta");
  if (image.size() != parsed.header.geometry.superblock_bytes)
    return bad_size("superblock", image.size(), parsed.header.geometry.superblock_bytes);
  const auto odd = parse_seal(image, 0, parsed.header);
  const auto even = parse_seal(image, 1, parsed.header);
  if (!odd.has_value() && !even.has_value()) return corrupt(name_of(number) + ": no seal of its table matches");
  const bool odd_holds = odd.has_value() && (!even.has_value() || odd->turn > even->turn);
  parsed.seal = odd_holds ? *odd : *even;
  if (blocks_match(image, parsed.header.geometry, parsed.seal)) return parsed;
  const auto& other = odd_holds ? even : odd;
  if (parsed.seal.updating)
    parsed.blocks = Wholeness::updating;
  else if (!other.has_value() || !blocks_match(image, parsed.header.geometry, *other))
    parsed.blocks = Wholeness::damaged;
  else
    parsed.seal = *other;
  return parsed;
}

Result<SuperblockRow> parse_row(ByteView image, const VpGeometry& geometry, const Seal& seal, std::uint32_t i) {
  FieldReader in(image.subspan(row_offset(geometry, i), kRowBytes));
  SuperblockRow row;
  row.vp = in.get<std::uint64_t>();
  row.index = in.get<std::uint64_t>();
  row.n = in.get<std::uint32_t>();
  row.blocks = in.get<std::uint32_t>();
  row.first_block = in.get<std::uint32_t>();
  row.bytes = in.get<std::uint32_t>();
  constexpr const char* kWhat = "row of a superblock";
  if (row.vp >= geometry.n) return bad_field(kWhat, "vp", row.vp, "less than " + std::to_string(geometry.n));
  if (row.n < 1 || row.n > geometry.n - row.vp)
    return bad_field(kWhat, "number of VPs", row.n, "1 to " + std::to_string(geometry.n - row.vp));
  const std::uint64_t blocks = std::uint64_t{row.n} * row.blocks;
  if (row.blocks > seal.blocks || row.first_block > seal.blocks || blocks > seal.blocks - row.first_block)
    return bad_field(kWhat, "blocks", row.blocks, "what the superblock has");
  if (row.index > kMostOffset / geometry.block_bytes - row.blocks - 1)
    return bad_field(kWhat, "index", row.index, "what ends below 2^63");
  if (row.bytes > std::uint64_t{std::max(row.blocks, 1U)} * geometry.block_bytes)
    return bad_field(kWhat, "bytes", row.bytes, "at most the blocks");
  return row;
}

std::uint32_t table_crc(ByteView image, const VpGeometry& geometry, std::uint32_t rows) {
  std::uint32_t crc = 0;
  for (std::uint32_t i = 0; i < rows; ++i) crc = crc32c(image.subspan(row_offset(geometry, i), kRowBytes), crc);
  return crc;
}

std::uint32_t block_crc(ByteView image, const VpGeometry& geometry, std::uint32_t blocks) {
  return crc32c(image.subspan(block_offset(geometry, 0), std::uint64_t{blocks} * geometry.block_bytes));
}

}  // namespace thalweg::format
