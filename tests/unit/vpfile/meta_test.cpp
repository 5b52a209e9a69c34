// NAME.meta of a vpfile: round trip, every bit, and every rule of section 2 of docs/format/vpfile.md; places of bytes
// in streams, section 1.
#include "vpfile/format/meta.hpp"
#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

VpMeta sound_meta(std::uint64_t sequence = 1) {
  VpMeta meta;
  meta.sequence = sequence;
  meta.id.uuid[0] = 0xA0;
  meta.id.uuid[15] = 0x0A;
  meta.shape = {3, 2};
  meta.geometry.n = 6;
  return meta;
}

VpMeta full_meta(std::uint64_t sequence = 1) {
  VpMeta meta = sound_meta(sequence);
  meta.closed = meta.durable = true;
  meta.geometry = {6, 8, 16, 256, 300, 64, 4096, 6, 0};
  meta.geometry.first_superblock = (meta.geometry.lattice_end() + 4095) / 4096;
  meta.end_of_superblocks = meta.geometry.first_superblock + 3;
  meta.end_of_entries = 5;
  meta.ib_bytes = 1000;
  meta.session = 2;
  meta.superblocks = 1;
  meta.side_bytes[DirectoryFile::first] = 4242;
  meta.side_bytes[DirectoryFile::overflow] = 4343;
  meta.side_seals[DirectoryFile::first] = 77;
  meta.side_seals[DirectoryFile::overflow] = ~0ull;
  meta.data_bytes = 99999;
  return meta;
}

Bytes file_of(const VpMeta& meta) {
  Bytes file(kMetaBytes);
  std::ranges::copy(encode_meta(meta), file.begin() + static_cast<std::ptrdiff_t>(meta_offset(meta.sequence)));
  return file;
}

// The file with both slots.
Bytes file_of(const VpMeta& one, const VpMeta& other) {
  Bytes file = file_of(one);
  std::ranges::copy(encode_meta(other), file.begin() + static_cast<std::ptrdiff_t>(meta_offset(other.sequence)));
  return file;
}

void seal(Bytes& file) { seal_meta(ByteSpan(file).first(kMetaSlotBytes), 0); }

Code after(const std::function<void(VpMeta&)>& change) {
  VpMeta meta = full_meta();
  change(meta);
  return parse_meta(file_of(meta)).status().code();
}
template <class U>
Code poked(std::size_t offset, U value) {
  Bytes file = file_of(full_meta());
  poke(file, offset, value);
  seal(file);
  return parse_meta(file).status().code();
}

TEST(VpMeta, GivesBackEveryField) {
  for (const std::uint64_t sequence : {1ull, 2ull, 77ull, 1ull << 63}) {
    const VpMeta meta = full_meta(sequence);

    const auto back = parse_meta(file_of(meta));

    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back.value().sequence, meta.sequence);
    EXPECT_EQ(back.value().id, meta.id);
    EXPECT_EQ(back.value().closed, meta.closed);
    EXPECT_EQ(back.value().durable, meta.durable);
    EXPECT_EQ(back.value().geometry, meta.geometry);
    EXPECT_EQ(back.value().end_of_superblocks, meta.end_of_superblocks);
    EXPECT_EQ(back.value().end_of_entries, meta.end_of_entries);
    EXPECT_EQ(back.value().ib_bytes, meta.ib_bytes);
    EXPECT_EQ(back.value().session, meta.session);
    EXPECT_EQ(back.value().superblocks, meta.superblocks);
    for (const DirectoryFile which : kDirectoryFiles) {
      EXPECT_EQ(back.value().side_bytes[which], meta.side_bytes[which]);
      EXPECT_EQ(back.value().side_seals[which], meta.side_seals[which]);
    }
    EXPECT_EQ(back.value().data_bytes, meta.data_bytes);
    EXPECT_EQ(back.value().shape, meta.shape);
  }
}

TEST(VpMeta, HasRoomForSixtyFourDimensions) {
  VpMeta meta = sound_meta();
  meta.shape.assign(64, 1);
  meta.shape[0] = 5;
  meta.shape[63] = 7;
  meta.geometry.n = 35;

  EXPECT_EQ(parse_meta(file_of(meta)).value().shape, meta.shape);
}

TEST(VpMeta, TheHigherSequenceOfThoseThatVerifyHolds) {
  Bytes both = file_of(full_meta(1), sound_meta(2));
  EXPECT_EQ(parse_meta(both).value().sequence, 2u);
  EXPECT_EQ(parse_meta(file_of(full_meta(3), sound_meta(2))).value().sequence, 3u);
  both[4096 + 60] ^= std::byte{1};
  EXPECT_EQ(parse_meta(both).value().sequence, 1u);
  both[60] ^= std::byte{1};
  EXPECT_EQ(parse_meta(both).status().code(), Code::corrupt_file);
}

// Nothing of an append was synced: each sector of both slots has its old or its new bytes.
TEST(VpMeta, SlotsThatTheDeathOfTheMachineTearsAreWhole) {
  const Bytes before = file_of(full_meta(1), full_meta(2));
  const Bytes after = file_of(full_meta(3), full_meta(4));
  constexpr std::size_t kSector = 512;
  for (unsigned torn = 0; torn < 16; ++torn) {
    Bytes file = before;
    for (unsigned i = 0; i < 4; ++i) {
      const std::size_t at = (i / 2) * kMetaSlotStep + (i % 2) * kSector;
      if ((torn >> i & 1) != 0) std::copy_n(after.begin() + static_cast<std::ptrdiff_t>(at), kSector, &file[at]);
    }
    const auto found = parse_meta(file);
    ASSERT_TRUE(found.has_value()) << "sectors " << torn << ": " << found.error().message();
    const std::uint64_t expected = (torn & 4) != 0 ? 4 : (torn & 1) != 0 ? 3 : 2;
    EXPECT_EQ(found.value().sequence, expected) << "sectors " << torn;
  }
}

TEST(VpMeta, TheShapeOfAnotherVpfileIsNone) {
  VpMeta other = full_meta();
  other.id.uuid[3] = 1;
  Bytes file = file_of(full_meta());
  const Bytes old = file_of(other);
  std::copy_n(old.begin() + 512, 512, file.begin() + 512);

  EXPECT_EQ(parse_meta(file).status().code(), Code::corrupt_file);
}

TEST(VpMeta, ASlotStandsWhereItsSequenceSays) {
  Bytes file(kMetaBytes);
  std::ranges::copy(encode_meta(sound_meta(2)), file.begin());

  EXPECT_EQ(parse_meta(file).status().code(), Code::corrupt_file);
}

TEST(VpMeta, RefusesEveryFlippedBitAndEveryShorterLength) {
  const auto accepts = [](ByteView file) { return parse_meta(file).has_value(); };

  expect_every_bit_matters(to_bytes(encode_meta(full_meta())), accepts);
  expect_no_prefix_accepted(to_bytes(encode_meta(full_meta())), accepts);
  EXPECT_FALSE(accepts({}));
}

TEST(VpMeta, FieldsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(after([](VpMeta&) {}), Code::ok);
  EXPECT_EQ(after([](VpMeta& m) { m.minor = 9; }), Code::ok);
  for (const std::uint16_t major : {0, 4, 6})
    EXPECT_EQ(after([&](VpMeta& m) { m.major = major; }), Code::unsupported_version);
  EXPECT_EQ(after([](VpMeta& m) { m.sequence = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.shape.clear(); }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.shape = {4, 2}; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.n = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.n = (1ull << 40) + 3; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.nb_bytes = 12; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.record_bytes = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.buffer_bytes = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.cb_bytes = ~0ull; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.nb_bytes = 1ull << 62; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.block_bytes = 8; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.block_bytes = 48; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.block_bytes = 1024; }), bad);  // fewer than 8 in a superblock
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.block_bytes = 1u << 21; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.superblock_bytes = 2048; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.superblock_bytes = 5000; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.superblock_bytes = 1u << 25; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.pointers = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.geometry.pointers = 65; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { ++m.geometry.first_superblock; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.end_of_superblocks = m.geometry.first_superblock - 1; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.end_of_superblocks = m.geometry.first_superblock + m.superblocks; }), Code::ok);
  EXPECT_EQ(after([](VpMeta& m) { m.end_of_superblocks = ~0ull; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.superblocks = m.end_of_superblocks; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.end_of_entries = 0; }), bad);
  EXPECT_EQ(after([](VpMeta& m) { m.end_of_entries = ~0ull; }), bad);
  EXPECT_EQ(poked<std::uint32_t>(12, 0), bad);
  EXPECT_EQ(poked<std::uint32_t>(12, 65), bad);
  EXPECT_EQ(poked<std::uint64_t>(40, 1), Code::unsupported_version);
  EXPECT_EQ(poked<std::uint32_t>(48, 0), bad);
  EXPECT_EQ(poked<std::uint32_t>(48, 3), bad);
  EXPECT_EQ(poked<std::uint32_t>(144, ~0u), bad);
  EXPECT_EQ(poked<std::uint64_t>(512, 0), bad);
  EXPECT_EQ(poked<std::uint64_t>(512, ~0ull), bad);
  EXPECT_EQ(poked<std::uint32_t>(108, 7), Code::ok);  // reserved
  EXPECT_EQ(poked<std::uint64_t>(200, 7), Code::ok);
}

TEST(VpMeta, AnotherVersionIsNamedBesideTheOneThatIsRead) {
  for (const std::uint16_t major : {4, 6}) {
    VpMeta meta = full_meta();
    meta.major = major;
    const std::string said = parse_meta(file_of(meta)).status().message();
    EXPECT_NE(said.find("version " + std::to_string(major)), std::string::npos) << said;
    EXPECT_NE(said.find("reads version 5"), std::string::npos) << said;
  }
}

TEST(VpMeta, WithoutBlocksNothingIsToldOfThem) {
  const auto code = [](const std::function<void(VpMeta&)>& change) {
    VpMeta meta = sound_meta();
    change(meta);
    return parse_meta(file_of(meta)).status().code();
  };
  EXPECT_EQ(code([](VpMeta&) {}), Code::ok);
  EXPECT_EQ(code([](VpMeta& m) { m.geometry.superblock_bytes = 4096; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.geometry.pointers = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.geometry.first_superblock = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.end_of_superblocks = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.end_of_entries = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.side_bytes[DirectoryFile::first] = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.side_bytes[DirectoryFile::overflow] = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.side_seals[DirectoryFile::first] = 1; }), Code::corrupt_file);
  EXPECT_EQ(code([](VpMeta& m) { m.side_seals[DirectoryFile::overflow] = 1; }), Code::corrupt_file);
}

TEST(VpShapes, AreCountedOrRefused) {
  EXPECT_EQ(count_vps({7}).value(), 7u);
  EXPECT_EQ(count_vps({2, 3, 4}).value(), 24u);
  EXPECT_EQ(count_vps({1ull << 40}).value(), kMostVps);
  EXPECT_EQ(count_vps({}).status().code(), Code::out_of_range);
  EXPECT_EQ(count_vps({3, 0}).status().code(), Code::out_of_range);
  EXPECT_EQ(count_vps({1ull << 40, 2}).status().code(), Code::out_of_range);
  EXPECT_EQ(count_vps({~0ull, ~0ull}).status().code(), Code::out_of_range);
  EXPECT_EQ(count_vps(std::vector<std::uint64_t>(65, 1)).status().code(), Code::out_of_range);
}

// Every byte, by the table of section 1.
TEST(VpGeometry, EveryByteOfTheLatticeIsWhereTheDocumentSays) {
  for (const std::uint64_t b : {1, 3, 8}) {
    for (const std::uint64_t buffer : {0, 5, 16}) {
      VpGeometry geometry;
      geometry.n = 7;
      geometry.record_bytes = b;
      geometry.nb_bytes = 4 * b;
      geometry.buffer_bytes = buffer;
      geometry.cb_bytes = buffer == 0 ? 0 : 2 * buffer + 3;
      ASSERT_TRUE(check_geometry(geometry).ok());
      const std::uint64_t cb = (geometry.nb_bytes * 7 + 4095) / 4096 * 4096;
      for (std::uint64_t r = 0; r < geometry.lattice_bytes(); ++r) {
        for (const std::uint64_t vp : {0, 3, 6}) {
          const LatticeRow row = row_at(geometry, r);
          const std::uint64_t rest = r - geometry.nb_bytes;
          const std::uint64_t expected = r < geometry.nb_bytes ? (r / b * 7 + vp) * b + r % b
                                                               : cb + (rest / buffer * 7 + vp) * buffer + rest % buffer;
          EXPECT_EQ(row.offset_of(vp) + (r - row.begin), expected);
          EXPECT_LT(r, row.end());
        }
      }
      EXPECT_EQ(geometry.lattice_end(), buffer == 0 ? geometry.nb_bytes * 7 : cb + 7 * buffer * 3);
    }
  }
}

}  // namespace
}  // namespace thalweg::format
