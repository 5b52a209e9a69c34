// Reads that follow one another announce to the storage what they need next; others do not.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kBytes = 40 << 20;

class ReadAhead : public testing::TestWithParam<format::Checksum> {
 protected:
  std::unique_ptr<Multifile> open(MultifileMode access) {
    OpenRequest request;
    request.backend = storage_;
    request.path = "ahead.tw";
    request.access = access;
    request.options.checksum = GetParam();
    request.options.chunk_bytes = kBytes;
    return run(open_multifile(*group_, std::move(request))).value();
  }
  void SetUp() override {
    auto file = open(MultifileMode::create);
    LogicalWriter* writer = file->writing->current_or_first().value();
    EXPECT_TRUE(file->writing->write(*writer, std::vector<std::byte>(kBytes)).ok());
    EXPECT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
    storage_->restart({.record = true});
  }
  // The announced ranges, joined.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> announced() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const CallRecord& call : storage_->records()) {
      if (call.kind != CallKind::read_ahead) continue;
      if (all.empty() || all.back().second != call.offset) all.emplace_back(call.offset, call.offset);
      all.back().second += call.bytes;
    }
    return all;
  }
  void read(LogicalReader& reader, std::uint64_t at, std::uint64_t bytes) {
    std::size_t got = 0;
    EXPECT_TRUE(reader.read(at, std::span(memory_).first(bytes), got).ok());
    EXPECT_EQ(got, bytes);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
  std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend(), {});
};

TEST_P(ReadAhead, CoversEachChunkOnceInSteps) {
  auto file = open(MultifileMode::read);
  LogicalReader* reader = file->reading->current_or_first().value();
  for (std::uint64_t at = 0; at < kBytes; at += 100'000)
    read(*reader, at, std::min<std::uint64_t>(100'000, kBytes - at));
  ASSERT_EQ(announced().size(), 1U);
  const auto [begin, end] = announced().front();
  EXPECT_GT(end - begin, kBytes - (1 << 20));
  EXPECT_LE(end - begin, kBytes);
}

TEST_P(ReadAhead, ServesOneLargeReadToo) {
  auto file = open(MultifileMode::read);
  read(*file->reading->current_or_first().value(), 0, kBytes);
  ASSERT_EQ(announced().size(), 1U);
  EXPECT_GT(announced()[0].second - announced()[0].first, kBytes / 2);
}

TEST_P(ReadAhead, IsNotForReadsHereAndThere) {
  auto file = open(MultifileMode::read);
  LogicalReader* reader = file->reading->current_or_first().value();
  for (std::uint64_t i = 0; i < 30; ++i) read(*reader, i * 37 % 30 * (1 << 20), 300);
  EXPECT_TRUE(announced().empty());
}

INSTANTIATE_TEST_SUITE_P(, ReadAhead, testing::Values(format::Checksum::none, format::Checksum::crc32c),
                         [](const auto& instance) {
                           return instance.param == format::Checksum::none ? "Unchecked" : "Checked";
                         });

}  // namespace
}  // namespace thalweg::test
