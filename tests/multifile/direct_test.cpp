// Multifiles that are written past the page cache, and tw_multifile_iflush().
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>
#include <vector>

#include "support/files/held_syncs.hpp"
#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

class DirectMultifile : public OnDisk {
 protected:
  static void write(tw_multifile* file, const std::string& text) {
    ASSERT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
  }
  tw_multifile* create_direct(const char* transfer_bytes = "64KiB") {
    hint("io", "direct");
    hint("transfer_bytes", transfer_bytes);
    return open(TW_CREATE | TW_TRUNCATE);
  }
  // False where the file system has no direct I/O. Then writes are buffered, and must give the same file.
  static bool is_direct(tw_multifile* file) {
    const std::string text = strategy(file);
    const bool direct = text.find("; direct writes of ") != std::string::npos;
    EXPECT_TRUE(direct || text.find(" has no direct I/O)") != std::string::npos) << text;
    return direct;
  }
  static std::string strategy(tw_multifile* file) {
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    EXPECT_EQ(tw_multifile_summarize(file, &summary), TW_OK) << tw_last_error();
    return summary.strategy;
  }
};

TEST_F(DirectMultifile, TheStrategySaysSo) {
  hint("queue_depth", "8");
  tw_multifile* file = create_direct("1MiB");
  const std::string text = strategy(file);
  const bool names_both = text.find("direct writes of 1 MiB, 8 in flight (as asked for)") != std::string::npos;
  EXPECT_EQ(names_both, is_direct(file)) << text;
  close(file);
}

TEST_F(DirectMultifile, GivesBackWhatWasWritten) {
  std::mt19937 random(5);
  std::string all;
  tw_multifile* file = create_direct();
  for (int i = 0; i < 60; ++i) {
    const std::size_t bytes = random() % 3 == 0 ? random() % 3'000'000 : random() % 30'000;
    std::string part(bytes, '\0');
    for (char& c : part) c = static_cast<char>(random());
    write(file, part);
    all += part;
    EXPECT_EQ(random() % 4 == 0 ? tw_multifile_flush(file) : TW_OK, TW_OK) << tw_last_error();
    EXPECT_EQ(random() % 8 == 0 ? tw_multifile_sync(file) : TW_OK, TW_OK) << tw_last_error();
    if (random() % 5 == 0 && !all.empty()) {
      const std::size_t at = random() % all.size();
      const std::size_t n = std::min<std::size_t>(random() % 200'000, all.size() - at);
      ASSERT_EQ(tw_multifile_write_at(file, std::string(n, 'o').data(), n, static_cast<std::int64_t>(at)), TW_OK);
      all.replace(at, n, n, 'o');
    }
  }
  close(file);
  file = open(TW_READ);
  EXPECT_TRUE(read_all(file) == all);
  close(file);
  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

TEST_F(DirectMultifile, NoReservedBlocksAreLeft) {
  const std::string part(1 << 20, 'a');
  tw_multifile* file = create_direct();
  for (int i = 0; i < 9; ++i) write(file, part);
  close(file);
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_LT(found.st_blocks * 512, 10 << 20);
}

TEST_F(DirectMultifile, AnIflushIsCompleteInTheBackground) {
  const std::string part(300'000, 'a');
  tw_multifile* file = create_direct();
  std::vector<tw_request*> requests;
  {
    const HeldSyncs held;
    for (int i = 0; i < 5; ++i) {
      write(file, part);
      tw_request* request = nullptr;
      ASSERT_EQ(tw_multifile_iflush(file, &request), TW_OK) << tw_last_error();
      int done = 0;
      EXPECT_EQ(tw_request_test(&request, &done, nullptr), TW_OK);
      EXPECT_EQ(done, 0);
      requests.push_back(request);
    }
    EXPECT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();  // does not wait for what holds the others
  }
  EXPECT_EQ(tw_request_waitall(std::ssize(requests), requests.data(), nullptr, nullptr), TW_OK);
  write(file, part);
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file).size(), 6 * part.size());
  close(file);
}

TEST_F(DirectMultifile, AnIflushThatNobodyWaitedForIsPartOfTheClose) {
  tw_multifile* file = create_direct();
  write(file, std::string(300'000, 'a'));
  tw_request* request = nullptr;
  ASSERT_EQ(tw_multifile_iflush(file, &request), TW_OK) << tw_last_error();
  close(file);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file).size(), 300'000U);
  close(file);
}

TEST_F(DirectMultifile, WrongHintsAreRefused) {
  EXPECT_EQ(tw_options_set_hint(config_, "queue_depth", "0"), TW_OK);
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE, config_, &file), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("queue_depth"), std::string::npos) << tw_last_error();
}

}  // namespace
}  // namespace thalweg::test
