// A full disk with ranks: one failure on all, no hang, flushed data stays. Rank 0 mounts a small tmpfs in a namespace
// of its process; the others reach it by /proc/PID/root.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/crash/process_small_disk.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

class MpiFullDisk : public testing::Test {
 protected:
  void SetUp() override {
    char folder[1024] = "";
    if (world_.rank() == 0) {
      disk_ = std::make_unique<SmallDisk>(4);
      if (disk_->refused().empty())
        ("/proc/" + std::to_string(::getpid()) + "/root" + disk_->folder()).copy(folder, sizeof folder - 1);
      // The path of the others must lead to the disk, not to the folder below it.
      if (disk_->refused().empty()) (void)disk_->reserve(1024);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, world_.comm());
    std::error_code error;
    int mine = std::filesystem::exists(std::string(folder) + "/ballast", error), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world_.comm());
    if (all == 0) GTEST_SKIP() << "no small file system that all ranks reach" << (disk_ ? ": " + disk_->refused() : "");
    path_ = std::string(folder) + "/run.tw";
  }

  // The disk vanishes with rank 0; closing a file opened for reading waits for no rank.
  void TearDown() override { world_.barrier(); }

  tw_status open(int mode, tw_multifile** file) const {
    return tw_multifile_open(world_.group(), path_.c_str(), mode, nullptr, file);
  }

  // Rank 0 frees or allocates the ballast file.
  void only_rank_0(void (SmallDisk::*act)()) {
    world_.barrier();
    if (world_.rank() == 0) (disk_.get()->*act)();
    world_.barrier();
  }

  std::vector<char> content(std::size_t bytes) const {
    std::mt19937 random(static_cast<unsigned>(world_.rank()));
    std::vector<char> data(bytes);
    for (char& byte : data) byte = static_cast<char>(random());
    return data;
  }

  // Reads this rank's logical file of a recovered or repaired multifile: flushed data is present.
  void expect_content(int mode, std::size_t flushed, const std::vector<char>& written) const {
    tw_multifile* file = nullptr;
    ASSERT_EQ(open(mode, &file), TW_OK) << tw_last_error();
    std::vector<char> data(written.size() + 1);
    std::size_t got = 0;
    EXPECT_EQ(tw_multifile_read(file, data.data(), data.size(), &got), TW_OK) << tw_last_error();
    EXPECT_GE(got, flushed);
    ASSERT_LE(got, written.size());
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(got), written.begin()));
    EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  }

  Comm world_{MPI_COMM_WORLD};
  std::unique_ptr<SmallDisk> disk_;
  std::string path_;
};

TEST_F(MpiFullDisk, RanksWriteUntilNothingFits) {
  const std::vector<char> data = content(5 << 20);
  tw_multifile* file = nullptr;
  ASSERT_EQ(open(TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
  std::size_t written = 0, flushed = 0;
  tw_status status = TW_OK;
  for (std::size_t i = 0; status == TW_OK && written < data.size(); ++i) {
    const std::size_t bytes = std::min<std::size_t>(i % 4 == 0 ? 30'000 : 700, data.size() - written);
    status = tw_multifile_write(file, data.data() + written, bytes);
    written += bytes;
    if (status == TW_OK && i % 3 == 0) status = tw_multifile_flush(file);
    if (status == TW_OK && i % 3 == 0) flushed = written;
  }
  EXPECT_EQ(status, TW_ERR_NO_SPACE) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NO_SPACE) << tw_last_error();

  expect_content(TW_READ | TW_RECOVER, flushed, data);
  only_rank_0(&SmallDisk::free_ballast);
  if (world_.rank() == 0) {
    EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
  world_.barrier();
  expect_content(TW_READ, flushed, data);
}

TEST_F(MpiFullDisk, ACreationFailsForAllAndLeavesNothing) {
  only_rank_0(&SmallDisk::fill);
  tw_multifile* file = nullptr;
  EXPECT_EQ(open(TW_CREATE | TW_TRUNCATE, &file), TW_ERR_NO_SPACE) << tw_last_error();

  EXPECT_EQ(file, nullptr);
  EXPECT_FALSE(std::filesystem::exists(path_));
  only_rank_0(&SmallDisk::free_ballast);
  ASSERT_EQ(open(TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
}

// Only the last rank has no space; the close returns the error on all.
TEST_F(MpiFullDisk, ACloseTellsAllRanksOfTheTroubleOfOne) {
  const std::vector<char> data = content(5 << 20);
  tw_multifile* file = nullptr;
  ASSERT_EQ(open(TW_CREATE | TW_TRUNCATE, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_write(file, data.data(), 5000), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();
  world_.barrier();
  if (world_.rank() == world_.size() - 1) {
    EXPECT_EQ(tw_multifile_write(file, data.data() + 5000, data.size() - 5000), TW_ERR_NO_SPACE) << tw_last_error();
  }
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_NO_SPACE) << tw_last_error();

  expect_content(TW_READ | TW_RECOVER, 5000, data);
}

}  // namespace
}  // namespace thalweg::test
