// NAME.first and NAME.dir of a vpfile: pointers, headers and entries; every bit, and every rule of sections 4 and 5 of
// docs/format/vpfile.md.
#include "vpfile/format/directory.hpp"
#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

constexpr std::uint32_t kPointers = 3;
const FileIdentity kId = {{7, 8}};

void seal_entry(ByteSpan entry, DirectoryFile which, std::uint64_t number) {
  seal(entry, side_identity(kId, which), entry_offset(which, kPointers, number));
}

Bytes sound_entry(DirectoryFile which = DirectoryFile::first, std::uint64_t number = 4) {
  Bytes bytes(entry_bytes(kPointers));
  EntryView entry(bytes);
  entry.set_link(9);
  entry.set_amount(1000);
  entry.set_run(0, {5, 12});
  entry.set_run(1, {0, 77});
  entry.set_session(3);
  entry.set_before(0xBEF0);
  entry.set_used(2);
  seal_entry(bytes, which, number);
  return bytes;
}

TEST(Pointers, GiveBackRunsAndHoles) {
  for (const BlockRun run :
       {BlockRun{1, 1}, BlockRun{(1ull << 51) - 1, 4096}, BlockRun{77, 3}, BlockRun{0, 1}, BlockRun{0, kMostHole}})
    EXPECT_EQ(decode_pointer(encode_pointer(run)), run);
  EXPECT_EQ(decode_pointer(0), BlockRun{});
  EXPECT_EQ(encode_pointer({5, 12}), 5u << 12 | 11u);
  EXPECT_EQ(encode_pointer({0, 3}), 1ull << 63 | 3);
}

TEST(DirectoryHeaders, AreThoseOfTheirFile) {
  for (const DirectoryFile which : {DirectoryFile::first, DirectoryFile::overflow}) {
    VpGeometry geometry;
    geometry.n = 100;
    geometry.pointers = 6;
    geometry.block_bytes = 64;
    const Bytes bytes = to_bytes(encode_directory_header(which, kId, geometry));
    const auto accepts = [&](ByteView some) { return check_directory_header(some, which, kId, geometry).ok(); };

    expect_every_bit_matters(bytes, accepts);
    expect_no_prefix_accepted(bytes, accepts);
    const auto of_another = [&](const std::function<void(VpGeometry&)>& change) {
      VpGeometry other = geometry;
      change(other);
      return check_directory_header(bytes, which, kId, other).code();
    };
    EXPECT_EQ(of_another([](VpGeometry& g) { g.n = 101; }), Code::corrupt_file);
    EXPECT_EQ(of_another([](VpGeometry& g) { g.pointers = 7; }), Code::corrupt_file);
    EXPECT_EQ(of_another([](VpGeometry& g) { g.block_bytes = 32; }), Code::corrupt_file);
    FileIdentity other_id = kId;
    other_id.uuid[15] = 1;
    EXPECT_EQ(check_directory_header(bytes, which, other_id, geometry).code(), Code::corrupt_file);
    const DirectoryFile other = which == DirectoryFile::first ? DirectoryFile::overflow : DirectoryFile::first;
    EXPECT_EQ(check_directory_header(bytes, other, kId, geometry).code(), Code::corrupt_file);
  }
}

TEST(Entries, GiveBackEveryField) {
  Bytes bytes = sound_entry();
  const EntryView entry(bytes);
  ASSERT_TRUE(check_entry(bytes, DirectoryFile::first, kId, 4).ok());
  EXPECT_EQ(entry.link(), 9u);
  EXPECT_EQ(entry.amount(), 1000u);
  EXPECT_EQ(entry.session(), 3u);
  EXPECT_EQ(entry.before(), 0xBEF0u);
  EXPECT_EQ(entry.used(), 2u);
  EXPECT_EQ(entry.crc(), load_le<std::uint32_t>(ByteView(bytes).subspan(bytes.size() - 4)));
  EXPECT_EQ(entry.run(0), (BlockRun{5, 12}));
  EXPECT_EQ(entry.run(1), (BlockRun{0, 77}));
  EXPECT_EQ(entry.run(2), BlockRun{});
}

TEST(Entries, EveryBitMattersAndZerosAreAnEmptyOne) {
  expect_every_bit_matters(sound_entry(),
                           [](ByteView bytes) { return check_entry(bytes, DirectoryFile::first, kId, 4).ok(); });
  EXPECT_TRUE(check_entry(Bytes(entry_bytes(kPointers)), DirectoryFile::first, kId, 4).ok());
}

TEST(Entries, AreBoundToTheirPlaceAndFile) {
  const Bytes bytes = sound_entry();
  FileIdentity other = kId;
  other.uuid[5] = 1;
  EXPECT_EQ(check_entry(bytes, DirectoryFile::overflow, kId, 4).code(), Code::corrupt_file);
  EXPECT_EQ(check_entry(bytes, DirectoryFile::first, kId, 5).code(), Code::corrupt_file);
  EXPECT_EQ(check_entry(bytes, DirectoryFile::first, other, 4).code(), Code::corrupt_file);
  EXPECT_EQ(entry_offset(DirectoryFile::first, kPointers, 0), 4096u);
  EXPECT_EQ(entry_offset(DirectoryFile::first, kPointers, 2), 4096u + 2 * 56);
  EXPECT_EQ(entry_offset(DirectoryFile::overflow, kPointers, 1), 4096u);
}

TEST(Entries, PointersInUseAreLegalOrRefused) {
  const auto code = [](const std::function<void(Bytes&)>& change) {
    Bytes bytes = sound_entry();
    change(bytes);
    seal_entry(bytes, DirectoryFile::first, 4);
    return check_entry(bytes, DirectoryFile::first, kId, 4).code();
  };
  EXPECT_EQ(code([](Bytes& b) { EntryView(b).set_used(3); }), Code::corrupt_file);  // there is no third one
  EXPECT_EQ(code([](Bytes& b) { EntryView(b).set_used(4); }), Code::corrupt_file);
  EXPECT_EQ(code([](Bytes& b) { EntryView(b).set_used(~0u); }), Code::corrupt_file);
  EXPECT_EQ(code([](Bytes& b) { poke<std::uint64_t>(b, 16, 7); }), Code::corrupt_file);  // address 0
  EXPECT_EQ(code([](Bytes& b) { poke<std::uint64_t>(b, 16, 1ull << 63); }), Code::corrupt_file);
  EXPECT_EQ(code([](Bytes& b) { poke<std::uint64_t>(b, 16, 1ull << 63 | (kMostHole + 1)); }), Code::corrupt_file);
  EXPECT_EQ(code([](Bytes& b) { poke<std::uint64_t>(b, 32, 7); }), Code::ok);  // unused
}

}  // namespace
}  // namespace thalweg::format
