// Buffer limits of a handle: per logical file its buffer size, in total 16 MiB.
#include <random>
#include <vector>

#include "capi/multifile_handle.hpp"
#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kPage = ByteBuffer::kAlignment;

class BufferOfALogicalFile : public OnDisk, public testing::WithParamInterface<std::uint64_t> {};

// Sequential records of any size, sometimes a seek or another logical file.
TEST_P(BufferOfALogicalFile, DoesNotGrowBeyondItsSize) {
  const std::uint64_t limit = (GetParam() + kPage - 1) / kPage * kPage;  // memory is allocated in pages
  hint("buffer_bytes", std::to_string(GetParam()));
  hint("chunk_bytes", "64KiB");
  ASSERT_EQ(tw_options_set_range(config_, 2, 0, 2), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  WriteHandle& handle = *file->file->writing;
  std::mt19937_64 random(GetParam());
  const std::string data(2 * GetParam() + 10'000, 'x');
  std::uint64_t largest = 0;

  for (int i = 0; i < 5000; ++i) {
    if (random() % 40 == 0) {
      ASSERT_EQ(tw_multifile_seek_to(file, static_cast<std::int64_t>(random() % 2), -1), TW_OK);
    }
    if (random() % 100 == 0) {
      ASSERT_EQ(tw_multifile_seek(file, static_cast<std::int64_t>(random() % 1'000'000), SEEK_SET), TW_OK);
    }
    const std::size_t most = random() % 50 == 0 ? data.size() : 1 + GetParam() / 7;
    ASSERT_EQ(tw_multifile_write(file, data.data(), 1 + random() % most), TW_OK) << tw_last_error();
    for (std::uint64_t rank = 0; rank < 2; ++rank) largest = std::max(largest, handle.writer(rank).value()->buffered());
  }

  EXPECT_LE(largest, limit);
  EXPECT_GE(largest, GetParam() / 2) << "it is used";
  close(file);
}

INSTANTIATE_TEST_SUITE_P(, BufferOfALogicalFile, testing::Values(0, 1, 100, 4096, 5000, 30'000, 300'000));

class ManyStreams : public OnDisk {};

// A buffer has at least a page, so that 16 MiB are buffers of 4096 logical files.
TEST_F(ManyStreams, KeepNoMoreThanTheBudgetInTheHandle) {
  constexpr std::int64_t kStreams = 6000;
  constexpr std::uint64_t kMostBuffers = (16 << 20) / kPage + 1;
  hint("physical_files", "1");
  ASSERT_EQ(tw_options_set_range(config_, kStreams, 0, kStreams), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  std::vector<FILE*> streams(kStreams);
  const std::string record(100, 'r');

  for (std::int64_t rank = 0; rank < kStreams; ++rank) {
    FILE*& stream = streams[static_cast<std::size_t>(rank)];
    ASSERT_EQ(tw_multifile_fopen(file, rank, "w", &stream), TW_OK) << tw_last_error();
    ASSERT_EQ(std::setvbuf(stream, nullptr, _IONBF, 0), 0);  // the handle buffers, not the C library
  }
  for (int round = 0; round < 2; ++round) {
    for (FILE* stream : streams) ASSERT_EQ(std::fwrite(record.data(), 1, record.size(), stream), record.size());
    std::uint64_t buffers = 0;
    for (std::int64_t rank = 0; rank < kStreams; ++rank)
      buffers += file->file->writing->writer(static_cast<std::uint64_t>(rank)).value()->buffered() > 0;
    EXPECT_LE(buffers, kMostBuffers);
  }
  for (FILE* stream : streams) ASSERT_EQ(std::fclose(stream), 0);
  close(file);

  ASSERT_EQ(tw_options_set_range(config_, -1, 0, kStreams), TW_OK);
  file = open(TW_READ);
  for (const std::int64_t rank : {std::int64_t{0}, kStreams / 2, kStreams - 1}) {
    ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
    EXPECT_EQ(read_all(file), record + record) << "of " << rank;
  }
  close(file);
}

}  // namespace
}  // namespace thalweg::test
