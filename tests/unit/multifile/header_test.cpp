// File header: round trip, every bit, every rule of section 2.1.
#include "multifile/format/header.hpp"

#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

Code code_of(const FileHeader& h, std::uint64_t file_bytes = kFileBytes) {
  return parse_header(encode_header(h), file_bytes).status().code();
}

// Parses a header after one change; returns the code.
Code after(const std::function<void(FileHeader&)>& change) {
  FileHeader h = sound_header();
  change(h);
  return code_of(h);
}

Bytes resealed(Bytes bytes) {
  poke(bytes, 508, crc32c(ByteView(bytes).first(508)));
  return bytes;
}

void expect_same(const FileHeader& a, const FileHeader& b) {
  EXPECT_EQ(a.major, b.major);
  EXPECT_EQ(a.minor, b.minor);
  EXPECT_TRUE(a.id == b.id);
  EXPECT_EQ(a.required_features, b.required_features);
  EXPECT_EQ(a.optional_features, b.optional_features);
  EXPECT_EQ(a.n_logical, b.n_logical);
  EXPECT_EQ(a.n_local, b.n_local);
  EXPECT_EQ(a.first_rank, b.first_rank);
  EXPECT_EQ(a.n_physical, b.n_physical);
  EXPECT_EQ(a.mapping, b.mapping);
  EXPECT_EQ(a.checksum, b.checksum);
  EXPECT_EQ(a.alignment, b.alignment);
  EXPECT_EQ(a.granule, b.granule);
  EXPECT_EQ(a.map_offset, b.map_offset);
  EXPECT_EQ(a.ranks_offset, b.ranks_offset);
  EXPECT_EQ(a.session_offset, b.session_offset);
  EXPECT_EQ(a.created_seconds, b.created_seconds);
  EXPECT_EQ(a.n_later, b.n_later);
}

FileHeader random_header(std::mt19937_64& random) {
  FileHeader h;
  for (auto& byte : h.id.uuid) byte = static_cast<std::uint8_t>(random());
  h.minor = static_cast<std::uint16_t>(random());
  h.optional_features = random();
  h.n_physical = 1 + static_cast<std::uint32_t>(random() % 1000);
  h.id.physical = static_cast<std::uint32_t>(random() % h.n_physical);
  h.n_logical = random() % 1000;
  h.n_local = random() % (h.n_logical + 1);
  h.mapping = random() % 2 == 0 ? Mapping::consecutive : Mapping::table;
  h.first_rank = h.mapping == Mapping::table ? 0 : random() % (h.n_logical - h.n_local + 1);
  h.checksum = random() % 2 == 0 ? Checksum::none : Checksum::crc32c;
  h.alignment = 512u << random() % 18;
  h.granule = 4096u << random() % 15;
  h.map_offset = h.id.physical == 0 ? 4096 * (1 + random() % 20) : 0;
  h.ranks_offset = h.mapping == Mapping::table && h.n_local > 0 ? 4096 * (1 + random() % 20) : 0;
  h.session_offset = 4096 * (1 + random() % 20);
  h.created_seconds = random();
  return h;
}

TEST(FileHeader, GivesBackEveryField) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const FileHeader h = random_header(random);

    auto back = parse_header(encode_header(h), kFileBytes);

    ASSERT_TRUE(back.has_value()) << back.error().message();
    expect_same(back.value(), h);
  }
}

TEST(FileHeader, LiesAsTheDocumentSays) {
  FileHeader h = sound_header();
  h.minor = 0x0203;
  const auto bytes = to_bytes(encode_header(h));

  const Bytes magic{std::byte{0x89}, std::byte{0x54}, std::byte{0x48}, std::byte{0x41},
                    std::byte{0x4C}, std::byte{0x57}, std::byte{0x0D}, std::byte{0x0A}};
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 8), magic);
  const ByteView all(bytes);
  EXPECT_EQ(load_le<std::uint16_t>(all.subspan(8)), 4u);
  EXPECT_EQ(load_le<std::uint16_t>(all.subspan(10)), 0x0203u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(12)), 512u);
  EXPECT_EQ(all[16], std::byte{0xA0});
  EXPECT_EQ(all[31], std::byte{0xAF});
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(48)), h.n_logical);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(56)), h.n_local);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(64)), h.first_rank);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(72)), h.n_physical);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(76)), h.id.physical);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(80)), 0u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(84)), 1u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(88)), h.alignment);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(92)), h.granule);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(112)), h.session_offset);
  EXPECT_EQ(load_le<std::uint64_t>(all.subspan(120)), h.created_seconds);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(128)), 0u);
  EXPECT_EQ(load_le<std::uint32_t>(all.subspan(508)), crc32c(all.first(508)));
}

TEST(FileHeader, RefusesEveryFlippedBitAndEveryShorterLength) {
  const auto bytes = to_bytes(encode_header(sound_header()));
  const auto accepts = [](ByteView view) { return parse_header(view, kFileBytes).has_value(); };

  expect_every_bit_matters(bytes, accepts);
  expect_no_prefix_accepted(bytes, accepts);
}

TEST(FileHeader, AnotherMagicIsNoMultifile) {
  auto bytes = to_bytes(encode_header(sound_header()));
  bytes[6] = std::byte{0x0A};  // as after a transfer in text mode

  const Status status = parse_header(resealed(bytes), kFileBytes).status();

  EXPECT_EQ(status.code(), Code::corrupt_file);
  EXPECT_NE(status.message().find("not a multifile"), std::string::npos);
  EXPECT_EQ(parse_header({}, 0).status().code(), Code::corrupt_file);
}

TEST(FileHeader, AnotherMajorVersionIsUnsupportedWhateverItsChecksum) {
  auto bytes = to_bytes(encode_header(sound_header()));
  for (const std::uint16_t version : {1, 2, 3, 77}) {
    poke<std::uint16_t>(bytes, 8, version);

    const Status refused = parse_header(bytes, kFileBytes).status();
    EXPECT_EQ(refused.code(), Code::unsupported_version);
    EXPECT_EQ(parse_header(resealed(bytes), kFileBytes).status().code(), Code::unsupported_version);
    EXPECT_NE(refused.message().find(std::to_string(version)), std::string::npos) << "both versions are named";
    EXPECT_NE(refused.message().find("version 4"), std::string::npos);
  }
  poke<std::uint16_t>(bytes, 8, 0);
  EXPECT_EQ(parse_header(resealed(bytes), kFileBytes).status().code(), Code::corrupt_file);
}

TEST(FileHeader, LaterMinorVersionsAndOptionalFeaturesAreRead) {
  EXPECT_EQ(after([](FileHeader& h) { h.minor = 65535; }), Code::ok);
  EXPECT_EQ(after([](FileHeader& h) { h.optional_features = ~0ull; }), Code::ok);
}

TEST(FileHeader, ARequiredFeatureIsRefusedByItsNumber) {
  FileHeader h = sound_header();
  h.required_features = 1ull << 37;

  const Status status = parse_header(encode_header(h), kFileBytes).status();

  EXPECT_EQ(status.code(), Code::unsupported_version);
  EXPECT_NE(status.message().find("feature 37"), std::string::npos);
}

TEST(FileHeader, HasItsOwnSize) {
  auto bytes = to_bytes(encode_header(sound_header()));
  poke<std::uint32_t>(bytes, 12, 513);

  EXPECT_EQ(parse_header(resealed(bytes), kFileBytes).status().code(), Code::corrupt_file);
}

TEST(FileHeader, ReservedBytesAreIgnored) {
  auto bytes = to_bytes(encode_header(sound_header()));
  bytes[132] = bytes[507] = std::byte{0xFF};

  EXPECT_TRUE(parse_header(resealed(bytes), kFileBytes).has_value());
}

TEST(FileHeader, CountsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(after([](FileHeader& h) { h.n_logical = 1ull << 40; }), Code::ok);
  EXPECT_EQ(after([](FileHeader& h) { h.n_logical = (1ull << 40) + 1; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.n_local = 101; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.first_rank = 70; }), Code::ok);
  EXPECT_EQ(after([](FileHeader& h) { h.first_rank = 71; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.first_rank = ~0ull; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.n_physical = 0; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.n_physical = 1u << 20; }), Code::ok);
  EXPECT_EQ(after([](FileHeader& h) { h.n_physical = (1u << 20) + 1; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.id.physical = 3; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.mapping = Mapping{2}; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.checksum = Checksum{2}; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.n_logical = h.n_local = h.first_rank = 0; }), Code::ok);
}

// With later physical files there is one other, and no table.
TEST(FileHeader, LaterPhysicalFilesHaveNoLogicalFiles) {
  const Code bad = Code::corrupt_file;
  FileHeader first = sound_header();
  first.id.physical = 0;
  first.n_physical = 1;
  first.map_offset = 4096;
  first.n_later = 65535;
  EXPECT_EQ(code_of(first), Code::ok);
  for (const std::uint32_t number : {1u, 65535u}) {
    const FileHeader later = later_header(first, number);
    auto back = parse_header(encode_header(later), kHeaderBytes);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    expect_same(back.value(), later);
    EXPECT_TRUE(back->is_later());
  }
  EXPECT_EQ(code_of(later_header(first, 65536)), bad);
  const auto after_later = [&](const std::function<void(FileHeader&)>& change) {
    FileHeader later = later_header(first, 2);
    change(later);
    return code_of(later);
  };
  EXPECT_EQ(after_later([](FileHeader& h) { h.n_local = 1; }), bad);
  EXPECT_EQ(after_later([](FileHeader& h) { h.map_offset = 4096; }), bad);
  EXPECT_EQ(after_later([](FileHeader& h) { h.session_offset = 4096; }), bad);
  EXPECT_EQ(after_later([](FileHeader& h) { h.n_later = 65536; }), bad);
  EXPECT_EQ(after_later([](FileHeader& h) { h.mapping = Mapping::table; }), bad);
  EXPECT_EQ(after([](FileHeader& h) { h.n_later = 1; }), bad) << "beside two others";
}

TEST(FileHeader, AlignmentAndGranuleArePowersOfTwoInTheirRanges) {
  for (const std::uint32_t value : {0u, 1u, 256u, 513u, 768u, 3000u, 1u << 27, ~0u}) {
    EXPECT_EQ(after([&](FileHeader& h) { h.alignment = value; }), Code::corrupt_file) << value;
    EXPECT_EQ(after([&](FileHeader& h) { h.granule = value; }), Code::corrupt_file) << value;
  }
  EXPECT_EQ(after([](FileHeader& h) { h.alignment = 512; }), Code::ok);
  EXPECT_EQ(after([](FileHeader& h) { h.granule = 512; }), Code::corrupt_file);
  EXPECT_EQ(after([](FileHeader& h) { h.alignment = h.granule = 1u << 26; }), Code::ok);
}

TEST(FileHeader, TheMapIsInPhysicalFileZeroOnlyAndFits) {
  const auto first_file = [](std::uint64_t map_offset) {
    return after([&](FileHeader& h) {
      h.id.physical = 0;
      h.map_offset = map_offset;
    });
  };
  EXPECT_EQ(after([](FileHeader& h) { h.map_offset = 4096; }), Code::corrupt_file);
  EXPECT_EQ(first_file(4096), Code::ok);
  EXPECT_EQ(first_file(0), Code::corrupt_file);
  EXPECT_EQ(first_file(4097), Code::corrupt_file);
  EXPECT_EQ(first_file(kFileBytes - 4096), Code::ok);
  EXPECT_EQ(first_file(kFileBytes), Code::corrupt_file);
  EXPECT_EQ(first_file(~0ull & ~4095ull), Code::corrupt_file);
}

TEST(FileHeader, AMillionTasksThatDoNotFitAreRefused) {
  EXPECT_EQ(after([](FileHeader& h) {
              h.id.physical = 0;
              h.mapping = Mapping::table;
              h.first_rank = 0;
              h.n_local = 0;
              h.n_logical = 1000000;
              h.map_offset = 4096;
            }),
            Code::corrupt_file);
}

TEST(FileHeader, RanksAreThereWithATableAndFit) {
  const auto with_table = [](std::uint64_t n_local, std::uint64_t ranks_offset) {
    return after([&](FileHeader& h) {
      h.mapping = Mapping::table;
      h.first_rank = 0;
      h.n_local = n_local;
      h.ranks_offset = ranks_offset;
    });
  };
  EXPECT_EQ(with_table(30, 8192), Code::ok);
  EXPECT_EQ(with_table(30, 0), Code::corrupt_file);
  EXPECT_EQ(with_table(30, 100), Code::corrupt_file);
  EXPECT_EQ(with_table(30, kFileBytes), Code::corrupt_file);
  EXPECT_EQ(with_table(0, 0), Code::ok);
  EXPECT_EQ(with_table(0, 8192), Code::corrupt_file);
  EXPECT_EQ(after([](FileHeader& h) { h.ranks_offset = 8192; }), Code::corrupt_file);
  EXPECT_EQ(after([](FileHeader& h) { h.mapping = Mapping::table, h.ranks_offset = 8192; }), Code::corrupt_file)
      << "the first rank is 0 with a table";
}

TEST(FileHeader, TheSessionPageIsAPageInTheFile) {
  for (const std::uint64_t offset : {0ull, 2048ull, 5000ull, 1ull << 20, ~0ull, ~4095ull}) {
    EXPECT_EQ(after([&](FileHeader& h) { h.session_offset = offset; }), Code::corrupt_file) << offset;
  }
  EXPECT_EQ(after([](FileHeader& h) { h.session_offset = kFileBytes - 4096; }), Code::ok);
  EXPECT_EQ(code_of(sound_header(), 8191), Code::corrupt_file);
  EXPECT_EQ(code_of(sound_header(), 8192), Code::ok);
}

}  // namespace
}  // namespace thalweg::format
