// Distant records: each costs about its size, in blocks and in the length of the physical file.
#include <gtest/gtest.h>

#include <ostream>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "strided.tw";
constexpr std::uint64_t kRecords = 200;
constexpr std::uint64_t kGap = 100 * 1024;
constexpr std::uint64_t kPage = 4096;

struct Stride {
  const char* name;
  std::vector<std::size_t> parts;  // bytes of the consecutive writes that make a record
  std::uint64_t buffer_bytes = 256 * 1024;
  bool flushed = false;  // after each record
  bool backwards = false;
  format::Codec codec = format::Codec::none;
};
void PrintTo(const Stride& stride, std::ostream* out) { *out << stride.name; }

std::byte byte_of(std::uint64_t record, std::size_t i) { return static_cast<std::byte>(1 + (record * 31 + i) % 251); }

class Strided : public testing::TestWithParam<Stride> {
 protected:
  static std::size_t record_bytes() {
    std::size_t bytes = 0;
    for (const std::size_t part : GetParam().parts) bytes += part;
    return bytes;
  }
  static std::uint64_t offset_of(std::uint64_t record) { return record * (record_bytes() + kGap); }

  std::unique_ptr<Multifile> open(MultifileMode access) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kPath;
    request.access = access;
    request.options.physical_files = 1;
    request.options.buffer_bytes = GetParam().buffer_bytes;
    request.options.codec = GetParam().codec;
    return run(open_multifile(*group_, std::move(request))).value();
  }
  void close(std::unique_ptr<Multifile> file) {
    const Status status = run(close_multifile(*group_, std::move(file)));
    EXPECT_TRUE(status.ok()) << status.message();
  }

  static void write_record(WriteHandle& handle, std::uint64_t record) {
    ASSERT_TRUE(handle.seek_to(0, static_cast<std::int64_t>(offset_of(record))).ok());
    std::size_t i = 0;
    for (const std::size_t part : GetParam().parts) {
      std::vector<std::byte> data(part);
      for (std::byte& byte : data) byte = byte_of(record, i++);
      ASSERT_TRUE(handle.write(*handle.current(), data).ok());
    }
    if (GetParam().flushed) {
      ASSERT_TRUE(handle.flush().ok());
    }
  }

  std::uint64_t apparent_bytes() { return storage_->open(kPath, OpenMode::read).value()->size().value(); }
  std::uint64_t stored_bytes() {
    const auto file = storage_->open(kPath, OpenMode::read).value();
    std::uint64_t bytes = 0;
    for (std::uint64_t at = 0, end = file->size().value(); at < end; at += kPage, bytes += kPage) {
      at = file->next_data(at).value() / kPage * kPage;
      if (at >= end) break;
    }
    return bytes;
  }

  std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<Backend> storage_ = make_memory_backend();
};

TEST_P(Strided, RecordsTakeAboutWhatTheyHold) {
  auto file = open(MultifileMode::create);
  for (std::uint64_t i = 0; i < kRecords; ++i)
    write_record(*file->writing, GetParam().backwards ? kRecords - 1 - i : i);
  close(std::move(file));

  // Per record: frame, checksums and the rest of a block. Once: metadata, and the chunk of the part that began as a
  // stream.
  const std::uint64_t data = kRecords * record_bytes();
  EXPECT_LE(stored_bytes(), data + kRecords * 16 * 1024 + 64 * 1024);
  EXPECT_LE(apparent_bytes(), data + kRecords * 64 * 1024 + (std::uint64_t{20} << 20));
  file = open(MultifileMode::read);
  LogicalReader* reader = file->reading->reader(0).value();
  EXPECT_EQ(reader->size(), offset_of(kRecords - 1) + record_bytes());
  for (const std::uint64_t record : {std::uint64_t{0}, kRecords / 2, kRecords - 1}) {
    std::vector<std::byte> found(record_bytes() + 100);
    std::size_t got = 0;
    ASSERT_TRUE(reader->read(offset_of(record), found, got).ok());
    ASSERT_GE(got, record_bytes());
    for (std::size_t i = 0; i < got; ++i)
      ASSERT_EQ(found[i], i < record_bytes() ? byte_of(record, i) : std::byte{0}) << record << ", byte " << i;
  }
  close(std::move(file));
}

INSTANTIATE_TEST_SUITE_P(, Strided,
                         testing::Values(Stride{.name = "Small", .parts = {100}},
                                         Stride{.name = "SmallInParts", .parts = {40, 60}},
                                         Stride{.name = "SmallUnbuffered", .parts = {100}, .buffer_bytes = 0},
                                         Stride{.name = "SmallFlushed", .parts = {100}, .flushed = true},
                                         Stride{.name = "SmallBackwards", .parts = {100}, .backwards = true},
                                         Stride{.name = "SmallCompressed", .parts = {100}, .codec = format::Codec::lz4},
                                         Stride{.name = "Large", .parts = {300 * 1024}},
                                         Stride{.name = "LargeFlushed", .parts = {300 * 1024}, .flushed = true},
                                         Stride{.name = "LargeBehindAHead", .parts = {100, 300 * 1024}},
                                         Stride{.name = "LargerThanAPackTakes", .parts = {70 * 1024}}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace thalweg::test
