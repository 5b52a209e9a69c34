// Messages between ranks of more bytes than an int can count, on two ranks. The sender maps a few megabytes repeatedly;
// the receiver needs gigabytes.
#include <gtest/gtest.h>
#include <mpi.h>

#include <fstream>
#include <string>

#include "capi/handles.hpp"
#include "support/groups/process_mpi.hpp"
#include "support/memory/virtual_memory.hpp"

namespace thalweg::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr std::uint64_t kBytes = (std::uint64_t{1} << 31) + 4100;

std::uint64_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    if (word != "MemAvailable:") continue;
    std::uint64_t kilobytes = 0;
    info >> kilobytes;
    return kilobytes << 10;
  }
  return 0;
}

class MpiLargeTransfer : public testing::Test {
 protected:
  // Equal on all ranks.
  bool has_memory(std::uint64_t bytes) const {
    const VirtualMemory some(1);
    int mine = !kSanitized && some.data() != nullptr && available_bytes() > bytes + (std::uint64_t{1} << 30) ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world_.comm());
    return all == 1;
  }
  Group& group() const { return *world_.group()->impl; }
  Comm world_{MPI_COMM_WORLD};
};

std::byte byte_at(std::uint64_t i) { return static_cast<std::byte>(i % 251); }

TEST_F(MpiLargeTransfer, GatherMovesMoreThanTwoGigabytes) {
  if (world_.size() != 2) GTEST_SKIP() << "for two ranks";
  if (!has_memory(kBytes)) GTEST_SKIP() << "too little memory";
  const VirtualMemory memory(world_.rank() == 1 ? kBytes : 1);
  ASSERT_NE(memory.data(), nullptr) << memory.why_not();
  if (world_.rank() == 1)
    for (std::uint64_t i = 0; i < 4100; ++i) memory.data()[kBytes - 4100 + i] = byte_at(i);

  const auto all = run(group().gather({memory.data(), world_.rank() == 1 ? kBytes : 0}, 0));

  ASSERT_TRUE(all.has_value()) << all.status().message();
  if (world_.rank() != 0) return;
  const ByteView part = all.value().part(1);
  ASSERT_EQ(part.size(), kBytes);
  for (std::uint64_t i = 0; i < 4100; ++i) ASSERT_EQ(part[kBytes - 4100 + i], byte_at(i)) << i;
}

TEST_F(MpiLargeTransfer, ExchangeMovesMoreThanTwoGigabytes) {
  if (world_.size() != 2) GTEST_SKIP() << "for two ranks";
  if (!has_memory(2 * kBytes)) GTEST_SKIP() << "too little memory";
  std::vector<Message> outgoing;
  if (world_.rank() == 0) {
    outgoing.push_back({1, Bytes(kBytes)});
    for (std::uint64_t i = 0; i < 4100; ++i) outgoing[0].data[kBytes - 4100 + i] = byte_at(i);
  }

  const auto received = run(group().exchange(std::move(outgoing)));

  ASSERT_TRUE(received.has_value()) << received.status().message();
  ASSERT_EQ(received.value().size(), world_.rank() == 1 ? 1u : 0u);
  if (world_.rank() != 1) return;
  const Bytes& data = received.value()[0].data;
  ASSERT_EQ(data.size(), kBytes);
  for (std::uint64_t i = 0; i < 4100; ++i) ASSERT_EQ(data[kBytes - 4100 + i], byte_at(i)) << i;
}

}  // namespace
}  // namespace thalweg::test
