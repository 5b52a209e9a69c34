#include "os/aligned_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace thalweg {
namespace {

bool starts_on(const AlignedBuffer& buffer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0 && buffer.size() % alignment == 0;
}

TEST(AlignedBuffer, LiesAsItIsAskedTo) {
  for (const std::size_t alignment : {1u, 512u, 4096u, 65536u}) {
    auto buffer = AlignedBuffer::make(5000, alignment);

    ASSERT_TRUE(buffer.has_value());
    EXPECT_GE(buffer.value().size(), 5000u);
    EXPECT_TRUE(starts_on(buffer.value(), std::max<std::size_t>(alignment, AlignedBuffer::kPage)));
    buffer.value().span().back() = std::byte{1};
  }
}

TEST(AlignedBuffer, OfNothingIsNothing) { EXPECT_EQ(AlignedBuffer::make(0).value().size(), 0u); }

TEST(AlignedBuffer, TooMuchIsAnError) {
  EXPECT_EQ(AlignedBuffer::make(std::numeric_limits<std::size_t>::max()).status().code(), Code::no_memory);
  EXPECT_EQ(AlignedBuffer::make(std::size_t{PTRDIFF_MAX} - 100).status().code(), Code::no_memory);
}

}  // namespace
}  // namespace thalweg
