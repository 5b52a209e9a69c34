// Superblocks of a vpfile: headers, seals and rows; every sealed bit, and every rule of section 3 of
// docs/format/vpfile.md.
#include "vpfile/format/superblock.hpp"
#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

constexpr std::uint64_t kNumber = 5;

SuperblockHeader sound_superblock() {
  SuperblockHeader header;
  header.id.uuid[3] = 0x33;
  header.number = kNumber;
  header.session = 4;
  header.previous_rows = 5;
  header.previous = 3;
  header.before = 2;
  header.geometry = {10, 8, 16, 0, 0, 64, 4096, 6, 1};
  return header;
}

const VpGeometry kGeometry = sound_superblock().geometry;

FillSlot seal_of(const Bytes& image, std::uint64_t count, std::uint32_t rows, std::uint32_t blocks,
                 bool updating = false) {
  return {rows_and_blocks(rows, blocks),    count, block_crc(image, kGeometry, blocks), false, updating,
          table_crc(image, kGeometry, rows)};
}

void put_seal(Bytes& image, const FillSlot& seal) {
  std::ranges::copy(encode_seal(seal, sound_superblock()),
                    image.begin() + static_cast<std::ptrdiff_t>(seal_offset(seal)));
}

// Two rows, three blocks, all sealed.
Bytes sound_image() {
  Bytes image(4096);
  std::ranges::copy(encode_superblock_header(sound_superblock()), image.begin());
  for (std::size_t i = 0; i < 3 * 64; ++i) image[block_offset(kGeometry, 0) + i] = static_cast<std::byte>(i);
  encode_row({3, 0, 1, 2, 0, 100}, ByteSpan(image).subspan(row_offset(kGeometry, 0), kRowBytes));
  encode_row({4, 7, 1, 1, 2, 64}, ByteSpan(image).subspan(row_offset(kGeometry, 1), kRowBytes));
  put_seal(image, seal_of(image, 1, 2, 3));
  return image;
}

Result<ParsedSuperblock> parsed(const Bytes& image) {
  return parse_superblock(image, sound_superblock().id, kNumber, kGeometry);
}
bool has_its_blocks(ByteView image, const ParsedSuperblock& found) {
  return !found.damaged && block_crc(image, kGeometry, found.seal.blocks()) == found.seal.tail_seal;
}
bool is_whole(ByteView image) {
  const auto found = parse_superblock(image, sound_superblock().id, kNumber, kGeometry);
  return found.has_value() && has_its_blocks(image, found.value());
}

TEST(Superblock, GivesBackEveryField) {
  const Bytes image = sound_image();

  const auto back = parsed(image);

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value().header.id, sound_superblock().id);
  EXPECT_EQ(back.value().header.number, kNumber);
  EXPECT_EQ(back.value().header.session, 4u);
  EXPECT_EQ(back.value().header.previous_rows, 5u);
  EXPECT_EQ(back.value().header.previous, 3u);
  EXPECT_EQ(back.value().header.before, 2u);
  EXPECT_EQ(back.value().header.geometry, kGeometry);
  EXPECT_FALSE(back.value().damaged);
  EXPECT_EQ(back.value().seal.rows(), 2u);
  EXPECT_EQ(back.value().seal.blocks(), 3u);
  EXPECT_EQ(parse_row(image, kGeometry, back.value().seal, 0).value(), (SuperblockRow{3, 0, 1, 2, 0, 100}));
  EXPECT_EQ(parse_row(image, kGeometry, back.value().seal, 1).value(), (SuperblockRow{4, 7, 1, 1, 2, 64}));
}

TEST(Superblock, TellsWhetherASealCameBehindWhatItCovers) {
  Bytes image = sound_image();
  EXPECT_FALSE(parsed(image).value().seal.synced);
  FillSlot seal = seal_of(image, 2, 2, 3);
  seal.synced = true;
  put_seal(image, seal);
  EXPECT_TRUE(parsed(image).value().seal.synced);
  EXPECT_FALSE(parsed(image).value().seal.updating);
}

TEST(Superblock, BeginsWithItsMagic) {
  const Bytes image = sound_image();
  EXPECT_TRUE(begins_as_superblock(image));
  EXPECT_FALSE(begins_as_superblock(ByteView(image).first(7)));
  EXPECT_FALSE(begins_as_superblock(ByteView(image).subspan(1)));
}

TEST(Superblock, EveryBitOfHeaderSealRowsAndBlocksMatters) {
  Bytes image = sound_image();
  ASSERT_TRUE(is_whole(image));
  const auto expect_matters = [&](std::size_t begin, std::size_t end) {
    for (std::size_t bit = begin * 8; bit < end * 8; ++bit) {
      image[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(is_whole(image)) << "bit " << bit % 8 << " of byte " << bit / 8;
      image[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  };
  expect_matters(0, kFrameBytes);
  expect_matters(kFillSlotOffset[0], kFillSlotOffset[0] + kFillSlotBytes);
  expect_matters(block_offset(kGeometry, 0), block_offset(kGeometry, 3));
  expect_matters(row_offset(kGeometry, 1), 4096);
}

TEST(Superblock, IsBoundToItsPlaceFileAndLayout) {
  const Bytes image = sound_image();
  FileIdentity other = sound_superblock().id;
  other.uuid[0] ^= 1;
  VpGeometry wider = kGeometry;
  wider.nb_bytes = 24;
  EXPECT_EQ(parse_superblock(image, other, kNumber, kGeometry).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_superblock(image, sound_superblock().id, kNumber + 1, kGeometry).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_superblock(image, sound_superblock().id, kNumber, wider).status().code(), Code::corrupt_file);
  EXPECT_FALSE(is_whole(ByteView(image).first(4000)));
  expect_no_prefix_accepted(Bytes(image.begin(), image.begin() + kFrameBytes), [](ByteView bytes) {
    return parse_superblock_header(bytes, sound_superblock().offset()).has_value();
  });
}

TEST(Superblock, HeaderFieldsAreLegalOrRefused) {
  const auto code = [](const std::function<void(SuperblockHeader&)>& change) {
    SuperblockHeader header = sound_superblock();
    change(header);
    return parse_superblock_header(encode_superblock_header(header), header.offset()).status().code();
  };
  EXPECT_EQ(code([](SuperblockHeader&) {}), Code::ok);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.geometry.block_bytes = 8; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.geometry.pointers = 99; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.number = 0; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.number = ~0ull; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.previous = kNumber; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) {
              h.previous = kNumber;
              h.previous_rows = 0;
            }),
            Code::ok);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.previous = kNumber + 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](SuperblockHeader& h) { h.previous = 0; }), Code::corrupt_file);
}

TEST(Superblock, TheLaterOfTwoSealsHolds) {
  Bytes image = sound_image();
  encode_row({5, 0, 1, 1, 3, 9}, ByteSpan(image).subspan(row_offset(kGeometry, 2), kRowBytes));
  image[block_offset(kGeometry, 3)] = std::byte{9};
  EXPECT_EQ(parsed(image).value().seal.rows(), 2u) << "what is not sealed is not there";
  put_seal(image, seal_of(image, 2, 3, 4));
  EXPECT_EQ(parsed(image).value().seal.rows(), 3u);

  image[row_offset(kGeometry, 2)] ^= std::byte{1};
  EXPECT_EQ(parsed(image).value().seal.rows(), 2u) << "its table does not match";
  image[row_offset(kGeometry, 2)] ^= std::byte{1};
  image[block_offset(kGeometry, 3)] ^= std::byte{1};
  EXPECT_EQ(parsed(image).value().seal.rows(), 2u) << "its blocks do not match";
  EXPECT_TRUE(is_whole(image));
}

TEST(Superblock, UpdatedBlocksMayDiffer) {
  Bytes image = sound_image();
  put_seal(image, seal_of(image, 2, 2, 3, true));
  EXPECT_TRUE(is_whole(image));
  image[block_offset(kGeometry, 1)] ^= std::byte{1};
  EXPECT_FALSE(is_whole(image));
  EXPECT_FALSE(parsed(image).value().damaged);
  put_seal(image, seal_of(image, 3, 2, 3));
  EXPECT_TRUE(is_whole(image));
  image[block_offset(kGeometry, 1)] ^= std::byte{1};
  EXPECT_EQ(parsed(image).value().seal.count, 2u) << "as it was before the update";
  image[block_offset(kGeometry, 2)] ^= std::byte{1};
  EXPECT_TRUE(parsed(image).value().damaged);
}

TEST(Superblock, ASealThatTellsMoreThanThereIsRoomForIsNone) {
  Bytes image = sound_image();
  for (const auto& [rows, blocks] : {std::pair{2u, 60u}, std::pair{120u, 3u}, std::pair{~0u, 3u}, std::pair{2u, ~0u}}) {
    put_seal(image, {.bytes = rows_and_blocks(rows, blocks), .count = 2});
    EXPECT_EQ(parsed(image).value().seal.count, 1u);
  }
}

TEST(Superblock, RowsAreLegalOrRefused) {
  const Bytes image = sound_image();
  const FillSlot seal = parsed(image).value().seal;
  const auto code = [&](const SuperblockRow& row) {
    Bytes changed = image;
    encode_row(row, ByteSpan(changed).subspan(row_offset(kGeometry, 0), kRowBytes));
    return parse_row(changed, kGeometry, seal, 0).status().code();
  };
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(code({9, 0, 1, 3, 0, 192}), Code::ok);
  EXPECT_EQ(code({7, 0, 3, 1, 0, 64}), Code::ok);
  EXPECT_EQ(code({7, 100, 1, 0, 0, 64}), Code::ok);
  EXPECT_EQ(code({10, 0, 1, 1, 0, 64}), bad);
  EXPECT_EQ(code({~0ull, 0, 1, 1, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 0, 1, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 2, 1, 0, 64}), bad);
  EXPECT_EQ(code({0, 0, 10, 1, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 1, 4, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 1, ~0u, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 1, 1, 3, 64}), bad);
  EXPECT_EQ(code({9, 0, 1, 1, ~0u, 64}), bad);
  EXPECT_EQ(code({9, ~0ull, 1, 1, 0, 64}), bad);
  EXPECT_EQ(code({9, (1ull << 57) - 1, 1, 1, 0, 64}), bad);
  EXPECT_EQ(code({9, 0, 1, 1, 0, 65}), bad);
  EXPECT_EQ(code({9, 0, 1, 0, 0, 65}), bad);
}

}  // namespace
}  // namespace thalweg::format
