// Data of chunks written into blocks that are reserved first.
#include "multifile/write/physical_writer.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "sim/memory_backend.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg {
namespace {

constexpr std::size_t kLarge = 1 << 20;
constexpr std::size_t kSmall = 64 << 10;

class Reserving : public testing::Test {
 protected:
  // Calls of one kind, as (offset, bytes).
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Ranges calls_of(CallKind kind) const {
    Ranges ranges;
    for (const CallRecord& call : storage_->records())
      if (call.kind == kind) ranges.emplace_back(call.offset, call.bytes);
    return ranges;
  }
  std::unique_ptr<PhysicalWriter> writer(bool reserves) {
    DomainShare share;
    share.layout.domain_bytes = share.layout.round_bytes = 16 << 20;
    return std::make_unique<PhysicalWriter>(storage_->open("data", OpenMode::create).value(), format::FileHeader{},
                                            share, reserves);
  }

  std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend(), {.record = true});
  const std::vector<std::byte> data_ = std::vector<std::byte>(kLarge, std::byte{7});
};

TEST_F(Reserving, TakesJustTheBlocksOfALargeWriteBeforeIt) {
  const auto file = writer(true);
  EXPECT_TRUE(file->write_data(8192, data_).ok());
  EXPECT_TRUE(file->write_data(2 * kLarge, ByteView(data_).first(kSmall)).ok());
  EXPECT_EQ(calls_of(CallKind::preallocate), (Ranges{{8192, kLarge}}));
  EXPECT_EQ(calls_of(CallKind::write), (Ranges{{8192, kLarge}, {2 * kLarge, kSmall}}));
}

TEST_F(Reserving, IsLeftOutWhereItGainsNothing) {
  EXPECT_TRUE(writer(false)->write_data(8192, data_).ok());
  EXPECT_TRUE(calls_of(CallKind::preallocate).empty());
}

TEST_F(Reserving, FailsWithoutHarm) {
  storage_->restart({.rules = {{.kind = CallKind::preallocate, .lasting = true, .os_errno = ENOSPC}}, .record = true});
  EXPECT_TRUE(writer(true)->write_data(8192, data_).ok());
  EXPECT_EQ(calls_of(CallKind::write), (Ranges{{8192, kLarge}}));
}

}  // namespace
}  // namespace thalweg
