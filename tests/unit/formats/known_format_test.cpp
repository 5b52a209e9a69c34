// Known formats are recognised by their first bytes; similar ones are not.
#include "formats/known_format.hpp"
#include "multifile/format/header.hpp"
#include "support/files/known_files.hpp"
#include "unit/multifile/format_support.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg::format {
namespace {

KnownFormat known(const std::string& bytes) {
  return recognise(std::as_bytes(std::span(bytes)).first(std::min(bytes.size(), kBytesToKnow)));
}

TEST(KnownFormats, AreNamed) {
  for (const test::ForeignFile& file : test::foreign_files()) {
    const bool begins_later = file.bytes.size() > kBytesToKnow;
    EXPECT_STREQ(name_of(known(file.bytes)), begins_later ? name_of(KnownFormat::none) : file.name.c_str());
    EXPECT_FALSE(is_own(known(file.bytes)));
  }
}

TEST(KnownFormats, AreNotSeenWhereThereIsNone) {
  EXPECT_EQ(recognise({}), KnownFormat::none);
  for (const std::string& bytes : test::raw_files()) EXPECT_EQ(known(bytes), KnownFormat::none) << bytes;
  for (const test::ForeignFile& file : test::foreign_files())
    EXPECT_EQ(known(file.bytes.substr(0, 7)), KnownFormat::none) << file.name;
}

TEST(KnownFormats, OfOurOwnAreTheirs) {
  FileHeader header;
  header.n_physical = 1;
  EXPECT_EQ(recognise(encode_header(header)), KnownFormat::multifile);
  EXPECT_EQ(recognise(encode_meta({})), KnownFormat::vp_side);
  Bytes without_a_slot(kMetaBytes);
  std::ranges::copy(encode_meta({}), without_a_slot.begin() + kMetaSlotStep);
  EXPECT_EQ(recognise(without_a_slot), KnownFormat::vp_side);
  for (const DirectoryFile which : {DirectoryFile::first, DirectoryFile::overflow})
    EXPECT_EQ(recognise(encode_directory_header(which, {}, {})), KnownFormat::vp_side);
  SuperblockHeader superblock;
  superblock.geometry.block_bytes = 64;
  EXPECT_EQ(recognise(encode_superblock_header(superblock)), KnownFormat::vpfile);
  for (const KnownFormat own : {KnownFormat::multifile, KnownFormat::vpfile, KnownFormat::vp_side})
    EXPECT_TRUE(is_own(own));
}

}  // namespace
}  // namespace thalweg::format
