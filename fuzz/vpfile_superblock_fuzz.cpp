// A superblock of a vpfile and the rows of its table. Input: u8 flags (bit 0: keep, else recompute all checksums), u64
// offset, the 256 bytes of the header, u16 bytes of rows and the rows from its end backwards, then the blocks.
#include <ranges>

#include "base/size_units.hpp"
#include "fuzz_support.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg::fuzz {
namespace {

constexpr std::uint64_t kMostImage = 64 * 1024;

Bytes image_from(Input& input, std::uint64_t bytes) {
  Bytes image = input.take(format::kSuperblockHeader);
  const Bytes rows = input.take(input.number<std::uint16_t>() % (bytes / 2));
  const Bytes blocks = input.take(std::min<std::size_t>(input.left(), bytes / 2));
  image.resize(bytes);
  std::ranges::copy(rows, image.end() - static_cast<std::ptrdiff_t>(rows.size()));
  std::ranges::copy(blocks, image.begin() + format::kSuperblockHeader);
  return image;
}

void try_row(const format::SuperblockRow& row, const format::ParsedSuperblock& parsed, const Bytes& found) {
  const format::VpGeometry& geometry = parsed.header.geometry;
  FUZZ_REQUIRE(row.n >= 1 && row.vp + row.n <= geometry.n);
  FUZZ_REQUIRE(row.first_block + row.all_blocks() <= parsed.seal.blocks());
  if (row.is_batch()) {
    const auto batch = format::batch_of(row, parsed.header.number, found, geometry);
    if (batch.has_value())
      FUZZ_REQUIRE(batch->least < batch->most && batch->most <= kMostOffset - geometry.lattice_bytes());
  } else {
    FUZZ_REQUIRE(row.index <= kMostOffset / geometry.block_bytes - row.blocks);
    FUZZ_REQUIRE(row.bytes <= kMostOffset - row.index * geometry.block_bytes);
  }
  Bytes encoded(format::kRowBytes);
  format::encode_row(row, encoded);
  const format::FillSlot one{.bytes = format::rows_and_blocks(1, parsed.seal.blocks())};
  Bytes image(geometry.superblock_bytes);
  std::ranges::copy(encoded, image.begin() + static_cast<std::ptrdiff_t>(format::row_offset(geometry, 0)));
  const auto again = format::parse_row(image, geometry, one, 0);
  FUZZ_REQUIRE(again.has_value() && again.value() == row);
}

void try_image(const Bytes& image, const format::SuperblockHeader& header) {
  const auto parsed = format::parse_superblock(image, header.id, header.number, header.geometry);
  if (!parsed.has_value()) return;
  const format::ParsedSuperblock& found = parsed.value();
  FUZZ_REQUIRE(format::has_room(header.geometry, found.seal.blocks(), found.seal.rows()));
  for (std::uint32_t i = 0; i < found.seal.rows(); ++i) {
    const auto row = format::parse_row(image, header.geometry, found.seal, i);
    if (row.has_value()) try_row(row.value(), found, image);
  }
}

void run(Input& input) {
  const bool as_it_is = (input.number<std::uint8_t>() & 1) != 0;
  const auto offset = input.number<std::uint64_t>();
  Bytes image = image_from(input, kMostImage);
  if (!as_it_is) format::seal(ByteSpan(image).first(format::kFrameBytes), test::identity_in(image), offset);
  const auto header = format::parse_superblock_header(image, offset);
  if (!header.has_value()) return;
  const format::VpGeometry& geometry = header.value().geometry;
  FUZZ_REQUIRE(header.value().number <= kMostOffset / geometry.superblock_bytes);
  const auto encoded = format::encode_superblock_header(header.value());
  FUZZ_REQUIRE(std::ranges::equal(encoded, image | std::views::take(format::kFrameBytes)));
  if (geometry.superblock_bytes > kMostImage) return;
  // The rows end at the end of the superblock, at any offset.
  image.erase(image.begin() + static_cast<std::ptrdiff_t>(geometry.superblock_bytes / 2),
              image.end() - static_cast<std::ptrdiff_t>(geometry.superblock_bytes / 2));
  if (!as_it_is) test::seal_superblock(image, offset);
  try_image(image, header.value());
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
