#include "engine/transfer/staging_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace thalweg {
namespace {

TEST(StagingPool, GivesWholePagesOnPageBorders) {
  for (const std::size_t bytes : {1, 4095, 4096, 4097, 1 << 18}) {
    const auto buffer = take_staging(bytes);

    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.value().data()) % 4096, 0u);
    EXPECT_EQ(buffer.value().size(), (bytes + 4095) / 4096 * 4096);
    std::memset(buffer.value().data(), 1, buffer.value().size());
  }
}

TEST(StagingPool, KeepsABufferForTheNextOne) {
  std::byte* memory = nullptr;
  {
    auto buffer = take_staging(12288).value();
    memory = buffer.data();
    const StagingBuffer moved = std::move(buffer);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(moved.data(), memory);
  }

  EXPECT_EQ(take_staging(12288).value().data(), memory);
}

TEST(StagingPool, NeverGivesOneBufferToTwo) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 200; ++round) {
        std::vector<StagingBuffer> mine;
        for (int i = 0; i < 30; ++i) {
          mine.push_back(take_staging(static_cast<std::size_t>(1 + i % 3) * 4096).value());
          std::memset(mine.back().data(), t + i, mine.back().size());
        }
        for (int i = 0; i < 30; ++i) {
          const auto& buffer = mine[static_cast<std::size_t>(i)];
          ASSERT_EQ(buffer.data()[buffer.size() - 1], static_cast<std::byte>(t + i));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(StagingPool, SaysWhenThereIsNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program instead";
#endif
  EXPECT_EQ(take_staging(std::size_t{1} << 62).status().code(), Code::no_memory);
}

}  // namespace
}  // namespace thalweg
