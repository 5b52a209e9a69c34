// Frames, fill slots and directories: round trip, every bit, every rule of section 4.
#include "multifile/format/frame.hpp"

#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

constexpr std::uint64_t kOffset = 65536;
constexpr std::uint64_t kRoom = 1 << 20;

Frame sound_chunk() {
  Frame f;
  f.offset = kOffset;
  f.kind = FrameKind::chunk;
  f.session = 2;
  f.extent = 1 << 18;
  f.data_offset = 4096;
  f.rank = 41;
  f.sequence = 2 * kSequencePerSession + 5;
  f.logical_offset = 999;
  f.end_before = 1234;
  return f;
}

Frame sound_pack() {
  Frame f;
  f.offset = kOffset;
  f.kind = FrameKind::pack;
  f.session = 2;
  f.extent = 8192;
  f.data_offset = 128 + 48 * 3;
  f.n_pieces = 3;
  f.payload_bytes = 600;
  f.directory_crc = 0x12345678;
  return f;
}

std::optional<Frame> parsed(Frame f, const FileHeader& header = sound_header(), std::uint64_t offset = kOffset,
                            std::uint64_t room = kRoom) {
  f.offset = offset;
  return parse_frame(encode_frame(f, header.id), header, offset, room);
}

bool legal(const Frame& f) { return parsed(f).has_value(); }

bool after(const Frame& sound, const std::function<void(Frame&)>& change) {
  Frame f = sound;
  change(f);
  return legal(f);
}

TEST(Frame, GivesBackEveryFieldOfEachKind) {
  const Frame chunk = parsed(sound_chunk()).value();
  EXPECT_EQ(chunk.offset, kOffset);
  EXPECT_EQ(chunk.kind, FrameKind::chunk);
  EXPECT_EQ(chunk.session, 2u);
  EXPECT_EQ(chunk.extent, sound_chunk().extent);
  EXPECT_EQ(chunk.data_offset, sound_chunk().data_offset);
  EXPECT_EQ(chunk.rank, 41u);
  EXPECT_EQ(chunk.sequence, sound_chunk().sequence);
  EXPECT_EQ(chunk.logical_offset, 999u);
  EXPECT_EQ(chunk.end_before, 1234u);
  EXPECT_EQ(chunk.capacity(), (1u << 18) - 4096);

  const Frame pack = parsed(sound_pack()).value();
  EXPECT_EQ(pack.kind, FrameKind::pack);
  EXPECT_EQ(pack.n_pieces, 3u);
  EXPECT_EQ(pack.payload_bytes, 600u);
  EXPECT_EQ(pack.directory_crc, 0x12345678u);

  Frame reserved;
  reserved.extent = 4096;
  reserved.data_offset = 128;
  ASSERT_TRUE(parsed(reserved).has_value());
  EXPECT_EQ(parsed(reserved)->kind, FrameKind::reserved);
  EXPECT_EQ(parsed(reserved)->extent, 4096u);
}

TEST(Frame, ALaterPhysicalFileIsOneThatTheHeaderHas) {
  FileHeader header = sound_header();
  header.id.physical = 0;
  header.n_physical = 1;
  header.n_later = 2;
  const auto back = [&](std::uint64_t later) {
    Frame frame{.offset = 8192, .extent = 4096, .later = later};
    frame.kind = FrameKind::later;
    return parse_frame(encode_frame(frame, header.id), header, 8192, 4096);
  };
  ASSERT_TRUE(back(2).has_value());
  EXPECT_EQ(back(2)->later, 2u);
  EXPECT_FALSE(back(0).has_value());
  EXPECT_FALSE(back(3).has_value());
  header = later_header(header, 1);
  EXPECT_FALSE(back(2).has_value()) << "it stands in the first physical file only";
}

TEST(Frame, LiesAsTheDocumentSays) {
  const auto bytes = encode_frame(sound_chunk(), sound_header().id);
  const ByteView all(bytes);

  EXPECT_EQ(std::memcmp(bytes.data(), "TWFRAME1", 8), 0);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(8)), 1u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(12)), 2u);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(16)), 1u << 18);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(24)), 4096u);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(32)), 41u);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(40)), sound_chunk().sequence);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(48)), 999u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(56)), 0u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(124)), bound_crc(sound_header().id, kOffset, all.first(124)));
}

TEST(Frame, EveryFlippedBitIsDamage) {
  const FileHeader header = sound_header();
  for (const Frame& frame : {sound_chunk(), sound_pack()}) {
    const auto accepts = [&](ByteView bytes) { return parse_frame(bytes, header, kOffset, kRoom).has_value(); };
    expect_every_bit_matters(to_bytes(encode_frame(frame, header.id)), accepts);
    expect_no_prefix_accepted(to_bytes(encode_frame(frame, header.id)), accepts);
  }
}

TEST(Frame, ZerosAreNoFrameAndOneBitOfThemIsDamage) {
  Bytes zeros(kFrameBytes);
  EXPECT_TRUE(all_zero(zeros));
  EXPECT_FALSE(parse_frame(zeros, sound_header(), kOffset, kRoom).has_value());

  for (std::size_t bit = 0; bit < zeros.size() * 8; ++bit) {
    zeros[bit / 8] = std::byte{1} << (bit % 8);
    EXPECT_FALSE(all_zero(zeros));
    EXPECT_FALSE(parse_frame(zeros, sound_header(), kOffset, kRoom).has_value());
    zeros[bit / 8] = std::byte{0};
  }
}

TEST(Frame, IsBoundToItsPlaceAndFile) {
  const FileHeader header = sound_header();
  FileHeader other = header;
  other.id.uuid[3] ^= 1;
  const auto bytes = encode_frame(sound_chunk(), header.id);

  EXPECT_FALSE(parse_frame(bytes, header, kOffset + 4096, kRoom).has_value());
  EXPECT_FALSE(parse_frame(bytes, other, kOffset, kRoom).has_value());
  EXPECT_FALSE(parsed(sound_chunk(), header, kOffset + 512).has_value()) << "not on the alignment";
}

TEST(Frame, ExtentsAreLegalOrDamage) {
  for (const Frame& sound : {sound_chunk(), sound_pack()}) {
    EXPECT_FALSE(after(sound, [](Frame& f) { f.extent = 0; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.extent += 512; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.extent = kRoom + 4096; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.data_offset = f.extent + 4096; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.data_offset = ~4095ull; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.kind = FrameKind{3}; }));
    EXPECT_FALSE(after(sound, [](Frame& f) { f.session = kMostSession + 1; }));
  }
  EXPECT_TRUE(after(sound_pack(), [](Frame& f) { f.extent = kRoom; }));
  Frame huge = sound_pack();
  huge.extent = (kMaxOffset + 1) - 4096;
  EXPECT_FALSE(parsed(huge, sound_header(), kOffset, ~0ull).has_value());
}

TEST(Frame, ChunksAreLegalOrDamage) {
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.data_offset += 512; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.data_offset = 0; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.rank = 39; })) << "before the first rank here";
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.rank = 70; })) << "behind the last rank here";
  EXPECT_TRUE(after(sound_chunk(), [](Frame& f) { f.rank = 69; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.rank = ~0ull; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.sequence = kSequencePerSession + 5; })) << "another session";
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.sequence = 2 * kSequencePerSession; })) << "counts from 1";
  EXPECT_TRUE(after(sound_chunk(), [](Frame& f) { f.sequence = 3 * kSequencePerSession - 1; }));
  EXPECT_TRUE(after(sound_chunk(), [](Frame& f) { f.logical_offset = kMaxOffset; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.logical_offset = kMaxOffset + 1; }));
  EXPECT_TRUE(after(sound_chunk(), [](Frame& f) { f.end_before = kMaxOffset; }));
  EXPECT_FALSE(after(sound_chunk(), [](Frame& f) { f.end_before = kMaxOffset + 1; }));
  EXPECT_TRUE(after(sound_chunk(), [](Frame& f) { f.data_offset = f.extent; })) << "no room for data, but legal";
}

TEST(Frame, AChunkHasRoomForItsTable) {
  FileHeader header = sound_header();
  header.alignment = 512;
  header.granule = 4096;
  Frame f = sound_chunk();
  f.extent = 512 * 1000;  // at least 124 granules: 192 + 4 * 125 bytes in front
  f.data_offset = 512;
  EXPECT_FALSE(parsed(f, header).has_value());
  f.data_offset = 1024;
  EXPECT_TRUE(parsed(f, header).has_value());
  header.checksum = Checksum::none;  // the directory has seals all the same
  EXPECT_TRUE(parsed(f, header).has_value());
  f.data_offset = 512;
  EXPECT_FALSE(parsed(f, header).has_value());
}

TEST(Frame, WithATableAnyRankMayBeHere) {
  FileHeader header = sound_header();
  header.mapping = Mapping::table;
  header.first_rank = 0;
  Frame f = sound_chunk();
  f.rank = 99;
  EXPECT_TRUE(parsed(f, header).has_value());
  f.rank = 100;
  EXPECT_FALSE(parsed(f, header).has_value());
}

TEST(Frame, PacksAreLegalOrDamage) {
  EXPECT_FALSE(after(sound_pack(), [](Frame& f) { f.n_pieces = 4; }));
  EXPECT_FALSE(after(sound_pack(), [](Frame& f) { f.n_pieces = ~0ull; }));
  EXPECT_FALSE(after(sound_pack(), [](Frame& f) { f.n_pieces = 0, f.data_offset = 127; }));
  const auto with_pieces = [](std::uint64_t n) {
    Frame f = sound_pack();
    f.n_pieces = n;
    f.data_offset = 128 + 48 * n;
    f.extent = 1 << 26;
    return parsed(f, sound_header(), kOffset, f.extent).has_value();
  };
  EXPECT_TRUE(with_pieces(1 << 20));
  EXPECT_FALSE(with_pieces((1 << 20) + 1)) << "a directory that is too large to be held";
  EXPECT_FALSE(after(sound_pack(), [](Frame& f) { f.payload_bytes = f.capacity() + 1; }));
  EXPECT_TRUE(after(sound_pack(), [](Frame& f) { f.payload_bytes = f.capacity(); }));
  EXPECT_FALSE(after(sound_pack(), [](Frame& f) { f.payload_bytes = ~0ull; }));
}

TEST(ChunkCapacity, IsTheLargestThatFits) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    FileHeader h = sound_header();
    h.alignment = 512u << random() % 8;
    h.granule = 4096u << random() % 6;
    h.checksum = random() % 4 == 0 ? Checksum::none : Checksum::crc32c;
    const std::uint64_t extent = h.alignment * (1 + random() % (1ull << (random() % 30)));

    const std::uint64_t capacity = chunk_capacity(extent, h);

    ASSERT_EQ(capacity % h.alignment, 0u);
    ASSERT_LE(capacity, extent);
    if (capacity > 0) {
      const std::uint64_t front = extent - capacity;
      ASSERT_LE(chunk_data_offset(capacity, h), front);
      ASSERT_GT(chunk_data_offset(capacity + h.alignment, h), front - h.alignment) << "one unit more would fit";
      Frame f = sound_chunk();
      f.extent = extent;
      f.data_offset = front;
      ASSERT_TRUE(parsed(f, h, kOffset - kOffset % h.alignment, extent).has_value());
    } else {
      ASSERT_LE(extent, chunk_data_offset(1, h));
    }
  }
}

TEST(ChunkCapacity, OfHugeExtentsDoesNotOverflow) {
  FileHeader h = sound_header();
  h.alignment = 512;
  h.granule = 4096;
  const std::uint64_t extent = kMaxOffset / 512 * 512;

  const std::uint64_t capacity = chunk_capacity(extent, h);

  EXPECT_LE(chunk_data_offset(capacity, h), extent - capacity);
  EXPECT_GT(capacity, extent / 2);
}

FillSlot sound_fill() { return {.bytes = 5000, .count = 3, .tail_seal = 0xDEADBEEF, .synced = true}; }

TEST(FillSlot, GivesBackEveryField) {
  for (const bool synced : {false, true}) {
    FillSlot slot = sound_fill();
    slot.synced = synced;

    const auto back = parse_fill(encode_fill(slot, sound_header().id, 777), sound_header().id, 777, 5000);

    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->bytes, slot.bytes);
    EXPECT_EQ(back->count, slot.count);
    EXPECT_EQ(back->tail_seal, slot.tail_seal);
    EXPECT_EQ(back->synced, synced);
  }
}

TEST(FillSlot, RefusesEveryFlippedBitAndEveryShorterLength) {
  const auto accepts = [](ByteView bytes) { return parse_fill(bytes, sound_header().id, 777, 9000).has_value(); };

  expect_every_bit_matters(to_bytes(encode_fill(sound_fill(), sound_header().id, 777)), accepts);
  expect_no_prefix_accepted(to_bytes(encode_fill(sound_fill(), sound_header().id, 777)), accepts);
  EXPECT_FALSE(accepts(Bytes(kFillSlotBytes))) << "zeros";
}

TEST(FillSlot, FieldsAreLegalOrRefused) {
  const auto accepted = [](const FillSlot& slot, std::uint64_t capacity) {
    return parse_fill(encode_fill(slot, sound_header().id, 777), sound_header().id, 777, capacity).has_value();
  };
  FillSlot slot = sound_fill();

  EXPECT_FALSE(accepted(slot, 4999));
  EXPECT_TRUE(accepted(slot, 5000));
  slot.count = 0;
  EXPECT_FALSE(accepted(slot, 5000));
}

struct SoundDirectory {
  FileHeader header = sound_header();
  Frame frame = sound_pack();
  std::vector<DirectoryEntry> entries;
  SoundDirectory() {
    entries.push_back({40, 2 * kSequencePerSession + 1, 0, 0, 100, 100, 11, Codec::none});
    entries.push_back({69, 2 * kSequencePerSession + 2, 1000, 900, 5000, 200, 22, Codec::lz4});
    entries.push_back({40, 2 * kSequencePerSession + 3, kMaxOffset - 7000, kMaxOffset, 7000, 300, 33, Codec::zstd});
  }
  Bytes encode() const {
    Bytes bytes(entries.size() * kDirectoryEntryBytes);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      encode_directory_entry(entries[i], ByteSpan(bytes).subspan(i * kDirectoryEntryBytes, kDirectoryEntryBytes));
    }
    return bytes;
  }
  // Parses the current bytes with a valid crc.
  Result<std::vector<DirectoryEntry>> parse() {
    const Bytes bytes = encode();
    frame.directory_crc = bound_crc(header.id, kOffset + kDirectoryOffset, bytes);
    return parse_directory(bytes, frame, header);
  }
};

Code directory_after(const std::function<void(SoundDirectory&)>& change) {
  SoundDirectory d;
  change(d);
  return d.parse().status().code();
}

TEST(Directory, GivesBackEveryField) {
  SoundDirectory d;

  auto back = d.parse();

  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back.value().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const DirectoryEntry &a = back.value()[i], &b = d.entries[i];
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.logical_offset, b.logical_offset);
    EXPECT_EQ(a.end_before, b.end_before);
    EXPECT_EQ(a.logical_bytes, b.logical_bytes);
    EXPECT_EQ(a.stored_bytes, b.stored_bytes);
    EXPECT_EQ(a.crc, b.crc);
    EXPECT_EQ(a.codec, b.codec);
  }
}

TEST(Directory, RefusesEveryFlippedBitAndEveryShorterLength) {
  SoundDirectory d;
  ASSERT_TRUE(d.parse().has_value());
  const auto accepts = [&](ByteView bytes) { return parse_directory(bytes, d.frame, d.header).has_value(); };

  expect_every_bit_matters(d.encode(), accepts);
  expect_no_prefix_accepted(d.encode(), accepts);
}

TEST(Directory, AHugeCountOfPiecesTakesNoMemory) {
  SoundDirectory d;
  d.frame.n_pieces = ~0ull;

  EXPECT_EQ(parse_directory(d.encode(), d.frame, d.header).status().code(), Code::corrupt_file);
}

TEST(Directory, FieldsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].rank = 39; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].rank = 70; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].sequence = 1; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].sequence = 2 * kSequencePerSession; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].logical_bytes = 0; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[0].logical_bytes = 99; }), bad) << "stored without codec";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[2].logical_bytes = 7001; }), bad) << "ends beyond 2^63-1";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].logical_offset = ~0ull; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].logical_bytes = 1ull << 26; }), Code::ok);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].logical_bytes = (1ull << 26) + 1; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].stored_bytes = 201; }), bad)
      << "more than the payload";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].stored_bytes = 199; }), bad)
      << "less than the payload";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].stored_bytes = ~0u; }), bad)
      << "more than the payload";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.entries[1].end_before = kMaxOffset + 1; }), bad);
  EXPECT_EQ(directory_after([](SoundDirectory& d) {
              d.entries[1].stored_bytes = 0;
              d.frame.payload_bytes -= 200;
            }),
            bad);
  const auto stored_as = [](std::uint32_t bytes) {
    return directory_after([bytes](SoundDirectory& d) {
      d.entries[1].stored_bytes = bytes;
      d.frame.payload_bytes += bytes - 200;
    });
  };
  EXPECT_EQ(stored_as(5000 + 39 + 4096), Code::ok);
  EXPECT_EQ(stored_as(5000 + 39 + 4097), bad) << "more than a codec makes of 5000 bytes";
  EXPECT_EQ(directory_after([](SoundDirectory& d) { d.header.checksum = Checksum::none; }), Code::ok);
}

TEST(Directory, AnUnknownCodecIsGivenOutSoThatOnlyItsPieceIsRefused) {
  SoundDirectory d;
  d.entries[1].codec = Codec{7};

  auto back = d.parse();

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_FALSE(is_known(back.value()[1].codec));
  EXPECT_TRUE(is_known(back.value()[2].codec));
}

TEST(Directory, MayBeEmpty) {
  EXPECT_EQ(directory_after([](SoundDirectory& d) {
              d.entries.clear();
              d.frame.n_pieces = d.frame.payload_bytes = 0;
            }),
            Code::ok);
}

}  // namespace
}  // namespace thalweg::format
