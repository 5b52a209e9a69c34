// A task that alternates between more logical files than it has windows.
#include <malloc.h>

#include "os/file_ops.hpp"
#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

const auto as_before = transfer_calls().read;
int reads = 0;
ssize_t counted_read(int fd, void* data, std::size_t bytes, off_t at) {
  ++reads;
  return as_before(fd, data, bytes, at);
}

class ReadingInTurn : public OnDisk {
 protected:
  static constexpr std::int64_t kLogical = 300;

  void SetUp() override {
    OnDisk::SetUp();
    transfer_calls().read = counted_read;
  }
  void TearDown() override {
    transfer_calls().read = as_before;
    OnDisk::TearDown();
  }
  void write(std::size_t bytes) { close(write_each(kLogical, bytes)); }
  // Counts the system calls of reading one more record of each logical file.
  static int read_a_record_of_each(tw_multifile* file, std::int64_t n = kLogical, std::size_t bytes = 10) {
    const int before = reads;
    for (std::int64_t rank = 0; rank < n; ++rank) {
      std::vector<char> record(bytes);
      std::size_t got = 0;
      EXPECT_EQ(tw_multifile_seek_to(file, rank, -1), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_read(file, record.data(), bytes, &got), TW_OK) << tw_last_error();
      EXPECT_EQ(got, bytes);
    }
    return reads - before;
  }
};

TEST_F(ReadingInTurn, KeepsAllOfSmallFiles) {
  write(1000);
  tw_multifile* file = open(TW_READ);
  (void)read_a_record_of_each(file);

  EXPECT_EQ(read_a_record_of_each(file), 0);
  close(file);
}

// 64k logical files of 1 KiB took 75 MiB.
TEST_F(ReadingInTurn, OneAfterTheOtherKeepsFew) {
  constexpr std::int64_t kMany = 20'000;
  close(write_each(kMany, 1024));
  tw_multifile* file = open(TW_READ);
  const std::size_t before = mallinfo2().uordblks;
  (void)read_a_record_of_each(file, kMany, 1024);
  EXPECT_LT(mallinfo2().uordblks, before + (4u << 20));
  std::int64_t position = 0;
  ASSERT_EQ(tw_multifile_seek_to(file, 7, -1), TW_OK);
  ASSERT_EQ(tw_multifile_tell(file, &position, nullptr), TW_OK);
  EXPECT_EQ(position, 1024) << "each keeps its position";
  close(file);
}

TEST_F(ReadingInTurn, KeepsMostOfLargeFiles) {
  hint("chunk_bytes", "256KiB");
  write(256 * 1024);
  tw_multifile* file = open(TW_READ);
  const int first = read_a_record_of_each(file);
  for (int round = 0; round < 5; ++round) (void)read_a_record_of_each(file);

  EXPECT_LT(read_a_record_of_each(file), first / 2);
  EXPECT_GT(read_a_record_of_each(file), 0) << "not all are kept, and each goes on where it was";
  close(file);
}

TEST_F(ReadingInTurn, PiecesThatWereWrittenBackwardsDoNotCostAReadEach) {
  constexpr std::int64_t kRecords = 5000;
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  for (std::int64_t i = kRecords; i-- > 0;) {
    const std::string record = std::to_string(10'000'000 + i);
    ASSERT_EQ(tw_multifile_write_at(file, record.data(), record.size(), 8 * i), TW_OK) << tw_last_error();
  }
  close(file);
  file = open(TW_READ);
  const int before = reads;

  const std::string all = read_all(file);

  EXPECT_LT(reads - before, kRecords / 20);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(8 * kRecords));
  for (std::int64_t i = 0; i < kRecords; ++i)
    ASSERT_EQ(all.substr(static_cast<std::size_t>(8 * i), 8), std::to_string(10'000'000 + i));
  close(file);
}

}  // namespace
}  // namespace thalweg::test
