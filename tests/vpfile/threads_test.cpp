// Threads of one task that make concurrent calls as vpfile.h permits: calls of one VP, each thread on VPs of its own.
#include <thread>

#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

class VpThreads : public VpFiles {
 protected:
  static constexpr int kThreads = 4;
  static constexpr int kVpsEach = 5;

  // Runs act(vp) on one thread per VP.
  static void at_once(const std::function<void(std::int64_t)>& act) {
    on_threads(kThreads, [&](std::int64_t thread) {
      for (std::int64_t i = 0; i < kVpsEach; ++i) act(thread + kThreads * i);
    });
  }
  static std::string line_of(std::int64_t vp, int i) {
    return "line " + std::to_string(i) + " of " + std::to_string(vp) + "\n";
  }
};

TEST_F(VpThreads, WriteTextEachOfItsOwnVps) {
  tw_vpfile* file = open_vp("w+", {.shape = {kThreads * kVpsEach}, .hints = "superblock_bytes=4KiB,cache_bytes=0"});
  EXPECT_EQ(tw_vpfile_puts_all(file, "head\n", nullptr, nullptr), TW_OK);

  at_once([&](std::int64_t vp) {
    FILE* const stream = open_stdio(file, vp, "w");
    for (int i = 0; i < 60; ++i) {
      if (i % 3 == 0) {
        EXPECT_EQ(put_text(file, vp, line_of(vp, i)), TW_OK) << tw_last_error();
      } else {
        EXPECT_EQ(std::fputs(line_of(vp, i).c_str(), stream), 1);
      }
      if (i % 5 != 0) continue;
      std::int64_t at = 0;
      EXPECT_EQ(tw_vpfile_tell(file, vp, &at, nullptr, nullptr), TW_OK);
      std::int64_t local = 0;
      EXPECT_EQ(tw_vpfile_local(file, vp, &local), TW_OK);
    }
    EXPECT_EQ(tw_vpfile_flush(file, vp), TW_OK);
    EXPECT_EQ(std::fclose(stream), 0);
  });

  at_once([&](std::int64_t vp) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_SET), TW_OK);
    FILE* const stream = open_stdio(file, vp, "r");
    char line[64];
    EXPECT_STREQ(std::fgets(line, sizeof line, stream), "head\n");
    for (int i = 0; i < 60; ++i) {
      int number = 0;
      int whose = 0;
      EXPECT_EQ(std::fscanf(stream, "line %d of %d", &number, &whose), 2) << tw_last_error();
      EXPECT_EQ(number, i);
      EXPECT_EQ(whose, vp);
      EXPECT_EQ(std::getc(stream), '\n');
      EXPECT_EQ(std::ungetc('\n', stream), '\n');
      EXPECT_EQ(std::getc(stream), '\n');
    }
    EXPECT_EQ(std::getc(stream), EOF);
    EXPECT_EQ(std::fclose(stream), 0);
  });
  close(file);
}

TEST_F(VpThreads, OverwriteAndReadTheLattice) {
  tw_vpfile* file = open_vp("w+", {.shape = {kThreads * kVpsEach}});
  EXPECT_EQ(tw_vpfile_puts_all(file, "0123456789", nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_puts_all(file, "abc", nullptr, nullptr), TW_OK);  // in the buffer of a round

  at_once([&](std::int64_t vp) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, vp % 9, SEEK_SET), TW_OK);
    EXPECT_EQ(put_text(file, vp, "x"), TW_OK);
    EXPECT_EQ(tw_vpfile_seek(file, vp, -1, SEEK_END), TW_OK);
    EXPECT_EQ(put_text(file, vp, "Cde"), TW_OK);
  });

  for (std::int64_t vp = 0; vp < kThreads * kVpsEach; ++vp) {
    std::string expected = "0123456789abCde";
    expected[static_cast<std::size_t>(vp % 9)] = 'x';
    EXPECT_EQ(stream_of(file, vp), expected);
  }
  close(file);
}

// All VPs were alike; each concurrent call is one that makes them differ.
TEST_F(VpThreads, AreTheFirstToDiffer) {
  for (int round = 0; round < 50 && !HasFailure(); ++round) {
    tw_vpfile* file = open_vp("w+", {.shape = {kThreads * kVpsEach}});
    EXPECT_EQ(tw_vpfile_puts_all(file, "0123456789", nullptr, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_seek_all(file, 5, nullptr, SEEK_SET, nullptr), TW_OK);

    on_threads(kThreads, [&](std::int64_t vp) {
      int byte = vp == 1 ? 0 : '5';
      tw_status status = TW_OK;
      if (vp == 0) status = tw_vpfile_seek(file, vp, 9, SEEK_SET);
      if (vp == 1) status = get_byte(file, vp, &byte);
      if (vp == 2) status = tw_vpfile_seek(file, vp, -1, SEEK_CUR);
      if (vp == 3) status = put_text(file, vp, "abcdefgh");
      EXPECT_EQ(status, TW_OK) << tw_last_error();
      EXPECT_EQ(byte, '5');
    });

    Positions expected(kThreads * kVpsEach, 5);
    expected[0] = 9;
    expected[1] = 6;
    expected[2] = 4;
    expected[3] = 13;
    EXPECT_EQ(positions(file), expected);
    EXPECT_EQ(stream_of(file, 3), "01234abcdefgh");
    EXPECT_EQ(stream_of(file, 4), "0123456789");
    close(file);
  }
}

TEST_F(VpThreads, ReadWhatLiesInTheIbSegment) {
  Texts texts;
  for (int vp = 0; vp < kThreads * kVpsEach; ++vp) texts.push_back(text_of(vp, static_cast<std::size_t>(100 * vp)));
  put_streams(texts);
  tw_vpfile* file = open_vp("r", {.hints = "cache_bytes=0"});

  at_once([&](std::int64_t vp) { EXPECT_EQ(stream_of(file, vp), texts[static_cast<std::size_t>(vp)]); });

  close(file);
}

}  // namespace
}  // namespace thalweg::test
