// A multifile with more physical files than the process may have open.
#include <sys/resource.h>

#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kFiles = 300;
constexpr rlim_t kMostOpen = 64;

class OpenFileLimit : public OnDisk {
 protected:
  void SetUp() override {
    OnDisk::SetUp();
    folder_ = path_ + ".folder";
    std::filesystem::create_directory(folder_);
    path_ = folder_ + "/many.tw";
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = kMostOpen;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    hint("physical_files", std::to_string(kFiles));
    EXPECT_EQ(tw_options_set_range(config_, kFiles, 0, kFiles), TW_OK);
  }
  void TearDown() override {
    (void)::setrlimit(RLIMIT_NOFILE, &before_);
    OnDisk::TearDown();
    std::filesystem::remove_all(folder_);
  }
  static std::string text(std::int64_t rank) { return std::to_string(rank) + std::string(5000, 'x'); }
  // Writes a piece to each logical file in turn.
  static void write_all(tw_multifile* file, tw_status (*after)(tw_multifile*)) {
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      const std::string data = text(rank);
      ASSERT_EQ(tw_multifile_seek_to(file, rank, -1), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    }
    ASSERT_EQ(after(file), TW_OK) << tw_last_error();
  }
  void expect_each_is(int times) {
    tw_multifile* file = open(TW_READ);
    ASSERT_NE(file, nullptr);
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      std::string expected;
      for (int i = 0; i < times; ++i) expected += text(rank);
      ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK) << tw_last_error();
      ASSERT_EQ(read_all(file), expected) << rank;
    }
    close(file);
  }

  std::string folder_;
  rlimit before_ = {};
};

TEST_F(OpenFileLimit, DoesNotLimitWritingAppendingAndReading) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_NE(file, nullptr);
  write_all(file, tw_multifile_flush);
  write_all(file, tw_multifile_sync);
  close(file);
  file = open(TW_APPEND);
  ASSERT_NE(file, nullptr);
  write_all(file, tw_multifile_flush);
  close(file);

  expect_each_is(3);
  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

TEST_F(OpenFileLimit, DoesNotLimitRepairAndDefrag) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_NE(file, nullptr);
  write_all(file, tw_multifile_flush);
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_UNSAFE)
      << "the writer holds the multifile as long as it is open";
  std::filesystem::copy(folder_, folder_ + "/dead");
  close(file);
  path_ = folder_ + "/dead/many.tw";
  const std::string copy = folder_ + "/copy.tw";

  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  expect_each_is(1);
  EXPECT_EQ(tw_multifile_defrag(path_.c_str(), copy.c_str(), nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  path_ = copy;
  expect_each_is(1);
}

}  // namespace
}  // namespace thalweg::test
