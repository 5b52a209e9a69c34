// Index page, its entries and attributes: round trip, every bit, every rule of section 6.
#include "multifile/format/index.hpp"

#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

constexpr std::uint64_t kIndexOffset = 65536;

IndexPage counts(std::uint64_t n_local, std::uint64_t n_pieces, std::uint64_t names, std::uint64_t attributes) {
  IndexPage page;
  page.n_local = page.n_entries = n_local;
  page.n_pieces = n_pieces;
  page.names_bytes = names;
  page.attributes_bytes = attributes;
  return page;
}

IndexPage sound_counts(const FileHeader& header, std::uint64_t attributes) {
  IndexPage page = counts(header.n_local, 500, 5000, attributes);
  page.session = 3;
  return page;
}

// An index of physical file 0 with attributes.
struct SoundIndex {
  FileHeader header = sound_header();
  StateSlot state;
  IndexPage page;
  std::uint64_t file_bytes = kFileBytes;
  SoundIndex() {
    header.id.physical = 0;
    header.map_offset = 4096;
    page = layout_index(sound_counts(header, 70), kIndexOffset).value();
    state.state = FileState::closed;
    state.session = 3;
    state.index_offset = kIndexOffset;
    state.index_bytes = page.end - kIndexOffset;
    state.end = page.end;
  }
  Result<IndexPage> parse() const {
    return parse_index_page(encode_index_page(page, header.id, state.index_offset), header, state, file_bytes);
  }
};

Code after(const std::function<void(SoundIndex&)>& change) {
  SoundIndex s;
  change(s);
  return s.parse().status().code();
}

TEST(IndexPage, LaysSectionsOutOneBehindTheOther) {
  const IndexPage p = SoundIndex().page;

  EXPECT_EQ(p.files_offset, kIndexOffset + 4096);
  EXPECT_EQ(p.pieces_offset, p.files_offset + 4096);          // 30 entries
  EXPECT_EQ(p.names_offset, p.pieces_offset + 5 * 4096);      // 500 entries of 102 to a page
  EXPECT_EQ(p.attributes_offset, p.names_offset + 2 * 4096);  // 5000 bytes
  EXPECT_EQ(p.end, p.attributes_offset + 4096);
}

TEST(IndexPage, LayoutBeyondTheLargestOffsetIsRefused) {
  EXPECT_EQ(layout_index(counts(~0ull, 0, 0, 0), 4096).status().code(), Code::out_of_range);
  EXPECT_EQ(layout_index(counts(0, ~0ull, 0, 0), 4096).status().code(), Code::out_of_range);
  EXPECT_EQ(layout_index(counts(0, 0, ~0ull, 0), 4096).status().code(), Code::out_of_range);
  EXPECT_EQ(layout_index(counts(0, 0, 0, ~0ull), 4096).status().code(), Code::out_of_range);
  EXPECT_EQ(layout_index(counts(0, 0, 0, 0), ~4095ull).status().code(), Code::out_of_range);
  EXPECT_EQ(layout_index(counts(1ull << 40, 1ull << 40, 1ull << 40, 1ull << 30), 4096).status().code(), Code::ok);
}

TEST(IndexPage, GivesBackEveryField) {
  const SoundIndex s;

  auto back = s.parse();

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value().session, 3u);
  EXPECT_EQ(back.value().n_local, 30u);
  EXPECT_EQ(back.value().n_entries, 30u);
  EXPECT_EQ(back.value().n_pieces, 500u);
  EXPECT_EQ(back.value().names_bytes, 5000u);
  EXPECT_EQ(back.value().attributes_bytes, 70u);
  EXPECT_EQ(back.value().files_offset, s.page.files_offset);
  EXPECT_EQ(back.value().pieces_offset, s.page.pieces_offset);
  EXPECT_EQ(back.value().names_offset, s.page.names_offset);
  EXPECT_EQ(back.value().attributes_offset, s.page.attributes_offset);
  EXPECT_EQ(back.value().end, s.page.end);
}

TEST(IndexPage, RefusesEveryFlippedBitAndEveryShorterLength) {
  const SoundIndex s;
  const auto accepts = [&](ByteView page) {
    return parse_index_page(page, s.header, s.state, s.file_bytes).has_value();
  };

  expect_every_bit_matters(encode_index_page(s.page, s.header.id, kIndexOffset), accepts);
  expect_no_prefix_accepted(encode_index_page(s.page, s.header.id, kIndexOffset), accepts);
}

TEST(IndexPage, CountsAndOffsetsMustAgree) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(after([](SoundIndex& s) { s.page.session = 4; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.session = 2; }), Code::ok);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.n_local = 29; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.n_pieces = ~0ull; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.n_pieces = 600; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.names_bytes = 9000; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.attributes_bytes = 0; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.files_offset += 4096; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.pieces_offset += 4096; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.names_offset -= 4096; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.attributes_offset += 4096; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.page.end += 4096; }), bad);
  EXPECT_EQ(after([](SoundIndex& s) { s.state.index_bytes += 4096; }), bad);
}

TEST(IndexPage, FewerEntriesThanLogicalFilesSayWhoseTheyAre) {
  const auto listed = [](std::uint64_t n_entries) {
    return [n_entries](SoundIndex& s) {
      s.page.n_entries = n_entries;
      s.page = layout_index(s.page, kIndexOffset).value();
      s.state.index_bytes = s.page.end - kIndexOffset;
      s.state.end = s.page.end;
    };
  };
  SoundIndex few;
  listed(0)(few);
  EXPECT_EQ(few.page.pieces_offset, few.page.files_offset);
  EXPECT_TRUE(few.page.is_listed());
  EXPECT_EQ(few.page.files_kind(), SectionKind::listed_files);
  EXPECT_FALSE(SoundIndex().page.is_listed());
  EXPECT_EQ(after(listed(0)), Code::ok);
  EXPECT_EQ(after(listed(29)), Code::ok);
  EXPECT_EQ(after(listed(31)), Code::corrupt_file);

  std::vector<std::byte> entry(kListedEntryBytes);
  encode_listed_entry(29, {}, entry);
  EXPECT_EQ(parse_listed_local(entry, few.page).value(), 29u);
  encode_listed_entry(30, {}, entry);
  EXPECT_EQ(parse_listed_local(entry, few.page).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_listed_local(ByteView(entry).first(40), few.page).status().code(), Code::corrupt_file);
}

TEST(IndexPage, AFileShorterThanItsIndexIsTruncated) {
  SoundIndex s;
  s.file_bytes = s.page.end;
  EXPECT_TRUE(s.parse().has_value());
  s.file_bytes = s.page.end - 1;
  EXPECT_EQ(s.parse().status().code(), Code::corrupt_file);
  EXPECT_NE(s.parse().status().message().find("truncated"), std::string::npos);
}

TEST(IndexPage, AttributesAreInPhysicalFileZeroOnly) {
  EXPECT_EQ(after([](SoundIndex& s) { s.header.id.physical = 1; }), Code::corrupt_file);
  EXPECT_EQ(after([](SoundIndex& s) {
              s.header.id.physical = 1;
              s.page = layout_index(sound_counts(s.header, 0), kIndexOffset).value();
              s.state.end = s.page.end;
              s.state.index_bytes = s.page.end - kIndexOffset;
            }),
            Code::ok);
}

TEST(IndexPage, OfAnOpenFileIsThatOfTheSessionsBefore) {
  EXPECT_EQ(after([](SoundIndex& s) {
              s.state.state = FileState::open;
              s.state.session = 4;
              s.state.session_offset = s.state.end = s.page.end + 8192;
            }),
            Code::ok);
}

FileEntry sound_file() {
  return {.bytes = 12345,
          .first_piece = 490,
          .n_pieces = 10,
          .mode = 0100644,
          .name_offset = 4990,
          .name_bytes = 10,
          .flags = kFileDamaged};
}

Code file_after(const std::function<void(FileEntry&)>& change) {
  FileEntry e = sound_file();
  change(e);
  Bytes bytes(kFileEntryBytes);
  encode_file_entry(e, bytes);
  return parse_file_entry(bytes, SoundIndex().page).status().code();
}

TEST(FileEntry, GivesBackEveryField) {
  Bytes bytes(kFileEntryBytes);
  encode_file_entry(sound_file(), bytes);

  auto back = parse_file_entry(bytes, SoundIndex().page);

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value().bytes, 12345u);
  EXPECT_EQ(back.value().first_piece, 490u);
  EXPECT_EQ(back.value().n_pieces, 10u);
  EXPECT_EQ(back.value().mode, 0100644u);
  EXPECT_EQ(back.value().name_offset, 4990u);
  EXPECT_EQ(back.value().name_bytes, 10u);
  EXPECT_EQ(back.value().flags, kFileDamaged);
}

TEST(FileEntry, FieldsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(file_after([](FileEntry& e) { e.bytes = kMaxOffset; }), Code::ok);
  EXPECT_EQ(file_after([](FileEntry& e) { e.bytes = kMaxOffset + 1; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.first_piece = 491; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.first_piece = ~0ull; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.n_pieces = ~0u; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.name_offset = 4991; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.name_offset = ~0ull; }), bad);
  EXPECT_EQ(file_after([](FileEntry& e) { e.name_bytes = ~0u; }), bad);
  EXPECT_EQ(parse_file_entry(Bytes(39), SoundIndex().page).status().code(), bad);
}

PieceEntry sound_packed() {
  return {.logical_offset = 100,
          .physical_offset = 8192,
          .logical_bytes = 5000,
          .stored_bytes = 300,
          .crc = 77,
          .kind = PieceKind::packed,
          .codec = Codec::zstd};
}
PieceEntry sound_chunk_piece() {
  return {.logical_offset = 100,
          .physical_offset = 8192,
          .logical_bytes = 5000,
          .stored_bytes = 5000,
          .crc = 0,
          .kind = PieceKind::chunk,
          .codec = Codec::none};
}

Code piece_after(PieceEntry e, const std::function<void(PieceEntry&)>& change) {
  change(e);
  Bytes bytes(kPieceEntryBytes);
  encode_piece_entry(e, bytes);
  return parse_piece_entry(bytes, SoundIndex().page).status().code();
}

TEST(PieceEntry, GivesBackEveryField) {
  Bytes bytes(kPieceEntryBytes);
  encode_piece_entry(sound_packed(), bytes);

  auto back = parse_piece_entry(bytes, SoundIndex().page);

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value().logical_offset, 100u);
  EXPECT_EQ(back.value().physical_offset, 8192u);
  EXPECT_EQ(back.value().logical_bytes, 5000u);
  EXPECT_EQ(back.value().stored_bytes, 300u);
  EXPECT_EQ(back.value().crc, 77u);
  EXPECT_EQ(back.value().kind, PieceKind::packed);
  EXPECT_EQ(back.value().codec, Codec::zstd);
}

TEST(PieceEntry, FieldsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  const PieceEntry packed = sound_packed();
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.logical_bytes = 0; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.logical_offset = kMaxOffset - 4999; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.logical_offset = kMaxOffset - 5000; }), Code::ok);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.logical_bytes = ~0ull; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.logical_bytes = (1u << 26) + 1; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.stored_bytes = 0; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.stored_bytes = 5000 + 39 + 4096; }), Code::ok);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.stored_bytes = 5000 + 39 + 4097; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.codec = Codec::none; }), bad) << "stored and logical differ";
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.codec = Codec{3}; }), Code::unsupported_version);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.kind = PieceKind{0}; }), bad);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.kind = PieceKind{4}; }), bad);
  const PieceEntry zeros{.logical_offset = 5, .logical_bytes = 1ull << 40, .kind = PieceKind::zeros};
  EXPECT_EQ(piece_after(zeros, [](PieceEntry&) {}), Code::ok);
  EXPECT_EQ(piece_after(zeros, [](PieceEntry& e) { e.logical_bytes = 0; }), bad);
  EXPECT_EQ(piece_after(zeros, [](PieceEntry& e) { e.physical_offset = 4096; }), bad);
  EXPECT_EQ(piece_after(zeros, [](PieceEntry& e) { e.stored_bytes = 1; }), bad);
  EXPECT_EQ(piece_after(zeros, [](PieceEntry& e) { e.crc = 1; }), bad);
  EXPECT_EQ(piece_after(zeros, [](PieceEntry& e) { e.codec = Codec::lz4; }), bad);
  const auto of_bytes = [](PieceKind kind, std::uint64_t bytes) {
    IndexPage index = SoundIndex().page;
    index.files_offset = 1ull << 40;
    PieceEntry e = sound_packed();
    e.kind = kind;
    e.codec = Codec::none;
    e.crc = 0;
    e.logical_bytes = e.stored_bytes = bytes;
    Bytes bytes_40(kPieceEntryBytes);
    encode_piece_entry(e, bytes_40);
    return parse_piece_entry(bytes_40, index).status().code();
  };
  EXPECT_EQ(of_bytes(PieceKind::packed, 1u << 26), Code::ok);
  EXPECT_EQ(of_bytes(PieceKind::packed, (1u << 26) + 1), bad);
  EXPECT_EQ(of_bytes(PieceKind::chunk, (1u << 26) + 1), Code::ok);
  const PieceEntry chunk = sound_chunk_piece();
  EXPECT_EQ(piece_after(chunk, [](PieceEntry&) {}), Code::ok);
  EXPECT_EQ(piece_after(chunk, [](PieceEntry& e) { e.crc = 1; }), bad);
  EXPECT_EQ(piece_after(chunk, [](PieceEntry& e) { e.codec = Codec::lz4; }), bad);
  EXPECT_EQ(piece_after(chunk, [](PieceEntry& e) { e.stored_bytes = 4999; }), bad);
  EXPECT_EQ(parse_piece_entry(Bytes(41), SoundIndex().page).status().code(), bad);
}

TEST(PieceEntry, LiesBetweenTheHeaderAndTheIndex) {
  const PieceEntry packed = sound_packed();
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.physical_offset = 4095; }), Code::corrupt_file);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.physical_offset = kIndexOffset - 300; }), Code::ok);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.physical_offset = kIndexOffset - 299; }), Code::corrupt_file);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.physical_offset = ~0ull; }), Code::corrupt_file);
  EXPECT_EQ(piece_after(packed, [](PieceEntry& e) { e.stored_bytes = ~0ull; }), Code::corrupt_file);
  const PieceEntry chunk = sound_chunk_piece();
  EXPECT_EQ(piece_after(chunk, [](PieceEntry& e) { e.physical_offset = kIndexOffset - 5192; }), Code::ok);
  EXPECT_EQ(piece_after(chunk, [](PieceEntry& e) { e.physical_offset = kIndexOffset - 5191; }), Code::corrupt_file);
}

TEST(PieceEntry, MayLieInALaterPhysicalFile) {
  IndexPage index = SoundIndex().page;
  index.n_later = 3;
  const auto code = [&](PieceEntry e, std::uint16_t later, std::uint64_t offset) {
    e.later = later;
    e.physical_offset = offset;
    Bytes bytes(kPieceEntryBytes);
    encode_piece_entry(e, bytes);
    auto back = parse_piece_entry(bytes, index);
    EXPECT_EQ(back.has_value() ? back->later : later, later);
    return back.status().code();
  };
  const PieceEntry chunk = sound_chunk_piece();
  EXPECT_EQ(code(chunk, 3, 1ull << 40), Code::ok) << "far behind the index, which is in another file";
  EXPECT_EQ(code(chunk, 0, 1ull << 40), Code::corrupt_file);
  EXPECT_EQ(code(chunk, 4, 1ull << 40), Code::corrupt_file);
  EXPECT_EQ(code(chunk, 3, 4095), Code::corrupt_file);
  EXPECT_EQ(code(chunk, 3, kMaxOffset), Code::corrupt_file);
  EXPECT_EQ(code({.logical_bytes = 1, .kind = PieceKind::zeros}, 1, 0), Code::corrupt_file);
}

TEST(LaterEnd, IsZeroOrBehindTheHeader) {
  for (const std::uint64_t end : {std::uint64_t{0}, std::uint64_t{4096}, kMaxOffset})
    EXPECT_TRUE(check_later_end(end).ok()) << end;
  for (const std::uint64_t end : {std::uint64_t{1}, std::uint64_t{4095}, kMaxOffset + 1})
    EXPECT_EQ(check_later_end(end).code(), Code::corrupt_file) << end;
}

TEST(Attributes, GiveBackWhatWentIn) {
  Attributes attributes{
      {"a", ""}, {"creator", std::string("x\0y", 3)}, {std::string(255, 'k'), std::string(5000, 'v')}};

  auto back = parse_attributes(encode_attributes(attributes));

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value(), attributes);
  EXPECT_TRUE(parse_attributes({}).value().empty());
}

TEST(Attributes, EveryShorterLengthIsRefusedOrEndsBetweenPairs) {
  const Bytes bytes = encode_attributes({{"key", "value"}, {"key2", "value2"}});
  const std::size_t first_pair = 8 + 3 + 5;
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    const Bytes exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(parse_attributes(exact).has_value(), length == first_pair) << length;
  }
}

TEST(Attributes, KeysAreLegalOrRefused) {
  const auto accepted = [](const Attributes& a) { return parse_attributes(encode_attributes(a)).has_value(); };
  EXPECT_FALSE(accepted({{"", "x"}}));
  EXPECT_FALSE(accepted({{std::string(256, 'k'), "x"}}));
  EXPECT_FALSE(accepted({{std::string("a\0b", 3), "x"}}));

  Bytes twice = encode_attributes({{"a", "1"}});
  const Bytes again = twice, later = encode_attributes({{"b", "1"}});
  twice.insert(twice.end(), again.begin(), again.end());
  EXPECT_FALSE(parse_attributes(twice).has_value());
  Bytes falling = later;
  falling.insert(falling.end(), again.begin(), again.end());
  EXPECT_FALSE(parse_attributes(falling).has_value());
  Bytes rising = again;
  rising.insert(rising.end(), later.begin(), later.end());
  EXPECT_TRUE(parse_attributes(rising).has_value());
}

TEST(Attributes, SizesThatLieTakeNoMemory) {
  Bytes bytes = encode_attributes({{"key", "value"}});
  poke<std::uint32_t>(bytes, 4, ~0u);
  EXPECT_FALSE(parse_attributes(bytes).has_value());
  poke<std::uint32_t>(bytes, 0, ~0u);
  EXPECT_FALSE(parse_attributes(bytes).has_value());
}

}  // namespace
}  // namespace thalweg::format
