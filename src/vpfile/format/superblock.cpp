#include "vpfile/format/superblock.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/crc32c.hpp"
#include "base/fields.hpp"
#include "base/size_units.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kSuperblockMagic = "TWVPSUPR";
constexpr std::size_t kSuperblockCrcOffset = kSuperblockFixed - 4;
constexpr std::size_t kSealCrcOffset = 28;

std::string name_of(std::uint64_t number) { return fmt::format("superblock {}", number); }

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
  for (auto* number : {&seal.rows, &seal.blocks, &seal.table_crc, &seal.block_crc}) *number = in.get<std::uint32_t>();
  const bool stands_there = seal.turn != 0 && seal.offset() == kSealOffset[place];
  if (!stands_there ||
      load_le<std::uint32_t>(bytes.subspan(kSealCrcOffset)) != seal_crc(bytes, header.id, header.number))
    return std::nullopt;
  if (!has_room(header.geometry, seal.blocks, seal.rows)) return std::nullopt;
  if (seal.table_crc != table_crc(image, header.geometry, seal.rows)) return std::nullopt;
  return seal;
}

// The numbers of a header behind the identity, in the order of the table in the format document.
template <class Header, class Visit>
void each_number_of_header(Header& header, Visit visit) {
  auto& geometry = header.geometry;
  for (auto* number : {&header.number, &geometry.n, &geometry.record_bytes, &geometry.nb_bytes, &geometry.buffer_bytes,
                       &geometry.cb_bytes, &geometry.first_superblock, &header.session})
    visit(*number);
  for (auto* number : {&geometry.block_bytes, &geometry.superblock_bytes, &geometry.pointers, &header.previous_rows})
    visit(*number);
  visit(header.previous);
  visit(header.before);
}

bool blocks_match(ByteView image, const VpGeometry& geometry, const Seal& seal) {
  return block_crc(image, geometry, seal.blocks) == seal.block_crc;
}

}  // namespace

std::array<std::byte, kSuperblockHeader> encode_superblock_header(const SuperblockHeader& header) {
  std::array<std::byte, kSuperblockHeader> bytes{};
  FieldWriter out(bytes);
  out.put_magic(kSuperblockMagic).put_bytes(header.id);
  each_number_of_header(header, [&](const auto& number) { out.put(number); });
  out.put(crc32c(ByteView(bytes).first(kSuperblockCrcOffset)));
  return bytes;
}

bool begins_as_superblock(ByteView bytes) { return begins_with(bytes, kSuperblockMagic); }

Result<SuperblockHeader> parse_superblock_header(ByteView bytes) {
  if (bytes.size() < kSuperblockHeader) return bad_size("superblock header", bytes.size(), kSuperblockHeader);
  FieldReader in(bytes);
  if (!in.get_magic(kSuperblockMagic)) return corrupt("superblock header: wrong magic");
  SuperblockHeader header;
  const VpGeometry& geometry = header.geometry;
  std::ranges::copy(in.get_bytes(header.id.size()), header.id.begin());
  each_number_of_header(header, [&](auto& number) { number = in.get<std::remove_reference_t<decltype(number)>>(); });
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
  out.put(seal.turn).put((seal.updating ? kUpdating : 0) | (seal.ordered ? kOrdered : 0));
  for (const std::uint32_t number : {seal.rows, seal.blocks, seal.table_crc, seal.block_crc}) out.put(number);
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
    return corrupt("{}: it belongs to another place or file", name_of(number));
  if (geometry.has_ib() && parsed.header.geometry != geometry)
    return corrupt("{}: it tells another layout than NAME.meta", name_of(number));
  if (image.size() != parsed.header.geometry.superblock_bytes)
    return bad_size("superblock", image.size(), parsed.header.geometry.superblock_bytes);
  const auto odd = parse_seal(image, 0, parsed.header);
  const auto even = parse_seal(image, 1, parsed.header);
  if (!odd.has_value() && !even.has_value()) return corrupt("{}: no seal of its table matches", name_of(number));
  const bool odd_holds = odd.has_value() && (!even.has_value() || odd->turn > even->turn);
  parsed.seal = odd_holds ? *odd : *even;
  if (blocks_match(image, parsed.header.geometry, parsed.seal)) return parsed;
  const auto& other = odd_holds ? even : odd;
  if (parsed.seal.updating) return parsed;
  parsed.damaged = !other.has_value() || !blocks_match(image, parsed.header.geometry, *other);
  if (!parsed.damaged) parsed.seal = *other;
  return parsed;
}

Result<SuperblockRow> parse_row(ByteView image, const VpGeometry& geometry, const Seal& seal, std::uint32_t i) {
  FieldReader in(image.subspan(row_offset(geometry, i), kRowBytes));
  SuperblockRow row;
  for (auto* number : {&row.vp, &row.index}) *number = in.get<std::uint64_t>();
  for (auto* number : {&row.n, &row.blocks, &row.first_block, &row.bytes}) *number = in.get<std::uint32_t>();
  constexpr const char* kWhat = "row of a superblock";
  if (row.vp >= geometry.n) return bad_field(kWhat, "vp", row.vp, fmt::format("less than {}", geometry.n));
  if (row.n < 1 || row.n > geometry.n - row.vp)
    return bad_field(kWhat, "number of VPs", row.n, fmt::format("1 to {}", geometry.n - row.vp));
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
