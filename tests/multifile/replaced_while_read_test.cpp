// A multifile that is created anew while a reader has the old one open: the reader gets old bytes or an error, never
// new bytes.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

struct How {
  const char* checksum;
  const char* verify;
  const char* physical_files;
  std::size_t bytes;  // of each logical file
  const char* compression;
};
void PrintTo(const How& how, std::ostream* out) {
  *out << how.checksum << ", verify " << how.verify << ", " << how.physical_files << " files, " << how.bytes
       << " bytes, " << how.compression;
}

class ReplacedWhileRead : public OnDisk, public testing::WithParamInterface<How> {
 protected:
  static constexpr std::int64_t kLogical = 4;

  void SetUp() override {
    OnDisk::SetUp();
    hint("checksum", GetParam().checksum);
    hint("physical_files", GetParam().physical_files);
    hint("compression", GetParam().compression);
    hint("buffer_bytes", "64KiB");
    hint("alignment_bytes", "4KiB");
    ASSERT_EQ(tw_options_set_range(config_, kLogical, 0, kLogical), TW_OK);
    ASSERT_EQ(tw_options_create(&reading_), TW_OK);
  }
  void TearDown() override {
    tw_options_free(&reading_);
    OnDisk::TearDown();
  }
  void write(char what) {
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    ASSERT_NE(file, nullptr);
    const std::string data(GetParam().bytes, what);
    for (std::int64_t rank = 0; rank < kLogical; ++rank) {
      ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
      ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    }
    close(file);
  }
  const tw_options* how_to_read() {
    EXPECT_EQ(tw_options_set_hint(reading_, "verify", GetParam().verify), TW_OK);
    EXPECT_EQ(tw_options_set_hint(reading_, "buffer_bytes", "64KiB"), TW_OK);
    return reading_;
  }
  tw_multifile* open_old() {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, how_to_read(), &file), TW_OK) << tw_last_error();
    return file;
  }
  // Reads the first bytes of each file, so that the reader has all frames and some buffers.
  void look_at_all(tw_multifile* reader) {
    char byte = 0;
    std::size_t got = 0;
    for (std::int64_t rank = 0; rank < kLogical; ++rank) {
      ASSERT_EQ(tw_multifile_seek_to(reader, rank, 0), TW_OK);
      ASSERT_EQ(tw_multifile_read(reader, &byte, 1, &got), TW_OK) << tw_last_error();
      ASSERT_EQ(byte, 'o');
    }
  }
  // Whether the logical file could be read completely, with calls of `call` bytes.
  bool expect_old_bytes_only(tw_multifile* reader, std::int64_t rank, std::size_t call) {
    if (tw_multifile_seek_to(reader, rank, 0) != TW_OK) return false;
    for (std::size_t at = 0; at < GetParam().bytes;) {
      std::string data(call, '-');
      std::size_t got = 0;
      const tw_status status = tw_multifile_read(reader, data.data(), data.size(), &got);
      EXPECT_EQ(data.find('n'), std::string::npos) << "logical file " << rank << ", offset " << at;
      EXPECT_EQ(data.substr(0, got), std::string(got, 'o'));
      if (HasFailure()) return false;
      if (status != TW_OK) {
        EXPECT_EQ(status, TW_ERR_CORRUPT) << tw_last_error();
        EXPECT_NE(std::string(tw_last_error()).find("was replaced"), std::string::npos) << tw_last_error();
        return false;
      }
      at += got;
    }
    return true;
  }

  tw_options* reading_ = nullptr;
};

TEST_P(ReplacedWhileRead, GivesOldBytesOrAnError) {
  for (const std::size_t call : {std::size_t{1000}, std::size_t{1} << 20}) {
    write('o');
    tw_multifile* looked = open_old();
    look_at_all(looked);
    tw_multifile* opened = open_old();  // without reading
    write('n');

    int refused = 0;
    for (std::int64_t rank = 0; rank < kLogical; ++rank) {
      refused += expect_old_bytes_only(looked, rank, call) ? 0 : 1;
      refused += expect_old_bytes_only(opened, rank, call) ? 0 : 1;
    }
    EXPECT_GT(refused, 0) << "what was not in memory is gone";
    EXPECT_EQ(tw_multifile_close(&looked), TW_OK);
    EXPECT_EQ(tw_multifile_close(&opened), TW_OK);
  }
}

TEST_P(ReplacedWhileRead, AnotherFileOfThatNameLeavesTheReaderAlone) {
  write('o');
  tw_multifile* reader = open_old();
  look_at_all(reader);  // opens all physical files
  for (int k = 0; k < 2; ++k) std::filesystem::remove(k == 0 ? path_ : path_ + ".000001");
  write('n');

  for (std::int64_t rank = 0; rank < kLogical; ++rank) EXPECT_TRUE(expect_old_bytes_only(reader, rank, 5000));
  EXPECT_EQ(tw_multifile_close(&reader), TW_OK);
}

// A reader and a writer that replaces the file, interleaved at random: a handle returns bytes of one multifile only.
TEST_P(ReplacedWhileRead, AtAnyMomentGivesTheBytesOfOneMultifile) {
  write('a');
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (int round = 1; round < 30; ++round) write(static_cast<char>('a' + round % 26));
    done = true;
  });
  std::size_t reads = 0;
  while (!done || reads == 0) {
    tw_multifile* reader = nullptr;
    if (tw_multifile_open(nullptr, path_.c_str(), TW_READ, how_to_read(), &reader) != TW_OK) continue;
    std::string seen;
    for (std::int64_t rank = 0; rank < kLogical; ++rank) {
      std::string data(GetParam().bytes, '-');
      std::size_t got = 0;
      if (tw_multifile_seek_to(reader, rank, 0) != TW_OK) break;
      (void)tw_multifile_read(reader, data.data(), data.size(), &got);
      seen += data.substr(0, got);
    }
    if (!seen.empty()) {
      EXPECT_EQ(seen, std::string(seen.size(), seen[0])) << "bytes of two multifiles";
    }
    reads += seen.empty() ? 0 : 1;
    EXPECT_EQ(tw_multifile_close(&reader), TW_OK);
    if (HasFailure()) break;
  }
}

std::vector<How> ways() {
  std::vector<How> all;
  for (const auto& [checksum, verify] : {std::pair{"none", "on"}, {"crc32c", "on"}, {"crc32c", "off"}})
    for (const char* files : {"1", "2"})
      for (const auto& [bytes, compression] :
           {std::pair{std::size_t{3'000'000}, "none"}, {std::size_t{20'000}, "none"}, {std::size_t{300'000}, "lz4"}})
        all.push_back({checksum, verify, files, bytes, compression});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, ReplacedWhileRead, testing::ValuesIn(ways()));

}  // namespace
}  // namespace thalweg::test
