// Writes near 2^63-1, the largest offset: accepted up to the last byte, refused beyond, and read back.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <tuple>

#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

class LargestOffset : public OnDisk {
 protected:
  std::string tail(std::int64_t from) {
    tw_multifile* file = open(TW_READ);
    std::int64_t bytes = 0;
    EXPECT_EQ(tw_multifile_size(file, 0, &bytes), TW_OK);
    EXPECT_EQ(bytes, INT64_MAX);
    EXPECT_EQ(tw_multifile_seek(file, from, SEEK_SET), TW_OK);
    const std::string text = read_all(file);
    std::int64_t left = -1;
    EXPECT_EQ(tw_multifile_available(file, nullptr, &left), TW_OK);
    EXPECT_EQ(left, 0);
    close(file);
    EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    return text;
  }
};

TEST_F(LargestOffset, IsTheEndOfTheLastByteThatCanBeWritten) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  std::int64_t position = 0;

  EXPECT_EQ(tw_multifile_write_at(file, "ab", 2, INT64_MAX - 1), TW_ERR_RANGE);
  EXPECT_EQ(tw_multifile_write_at(file, "a", 1, INT64_MAX), TW_ERR_RANGE);
  EXPECT_EQ(tw_multifile_write_at(file, "a", 1, INT64_MIN), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_write_at(file, "", 0, INT64_MAX), TW_OK);
  EXPECT_EQ(tw_multifile_write_at(file, "z", 1, INT64_MAX - 1), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_tell(file, &position, nullptr), TW_OK);
  EXPECT_EQ(position, 0) << "of calls that do not use it";
  EXPECT_EQ(tw_multifile_seek(file, 0, SEEK_END), TW_OK);
  EXPECT_EQ(tw_multifile_seek(file, 1, SEEK_CUR), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_write(file, "a", 1), TW_ERR_RANGE);
  EXPECT_EQ(tw_multifile_seek(file, -3, SEEK_END), TW_OK);
  EXPECT_EQ(tw_multifile_write(file, "xyZ", 3), TW_OK) << tw_last_error();
  close(file);

  EXPECT_EQ(tail(INT64_MAX - 5), std::string("\0\0xyZ", 5));
}

// Parameters: bytes before the end, buffer size, record size.
class NearTheEnd : public LargestOffset,
                   public testing::WithParamInterface<std::tuple<std::int64_t, const char*, std::size_t>> {};

TEST_P(NearTheEnd, AStreamOfRecordsFillsTheLogicalFileToItsLastByte) {
  const auto [distance, buffer, record] = GetParam();
  const std::int64_t start = INT64_MAX - distance;
  hint("buffer_bytes", buffer);
  std::string expected(static_cast<std::size_t>(distance), '\0');
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<char>('a' + i % 23);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_EQ(tw_multifile_write(file, "begin", 5), TW_OK);
  ASSERT_EQ(tw_multifile_seek(file, start, SEEK_SET), TW_OK);
  const std::string more = expected + expected;
  std::size_t at = 0;

  tw_status status = TW_OK;
  while (at <= expected.size()) {
    status = tw_multifile_write(file, more.data() + at, record);
    if (status != TW_OK) break;
    at += record;
  }
  EXPECT_EQ(status, TW_ERR_RANGE);
  ASSERT_EQ(at, expected.size() / record * record) << "all whole records";
  ASSERT_EQ(tw_multifile_write(file, expected.data() + at, expected.size() - at), TW_OK) << tw_last_error();
  std::int64_t position = 0;
  EXPECT_EQ(tw_multifile_tell(file, &position, nullptr), TW_OK);
  EXPECT_EQ(position, INT64_MAX);
  EXPECT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();
  close(file);

  EXPECT_EQ(tail(start), expected);
}

INSTANTIATE_TEST_SUITE_P(, NearTheEnd,
                         testing::Combine(testing::Values(1000, 9000, 700'000),
                                          testing::Values("0", "1", "100", "4096", "5000", "256KiB"),
                                          testing::Values(std::size_t{37}, std::size_t{3000})),
                         [](const auto& instance) {
                           return "From" + std::to_string(std::get<0>(instance.param)) + "Buffer" +
                                  std::get<1>(instance.param) + "Records" + std::to_string(std::get<2>(instance.param));
                         });

}  // namespace
}  // namespace thalweg::test
