#include "group/reduce.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace thalweg {
namespace {

TEST(Reduce, WorksElementByElement) {
  std::vector<std::int64_t> into{1, -5, 7};
  const std::vector<std::int64_t> other{2, -9, 7};

  reduce_into(into, other, Reduction::min);
  EXPECT_EQ(into, (std::vector<std::int64_t>{1, -9, 7}));
  reduce_into(into, other, Reduction::max);
  EXPECT_EQ(into, (std::vector<std::int64_t>{2, -9, 7}));
  reduce_into(into, other, Reduction::sum);
  EXPECT_EQ(into, (std::vector<std::int64_t>{4, -18, 14}));
  reduce_into(into, std::vector<std::int64_t>{1, 1, 1}, Reduction::bit_or);
  EXPECT_EQ(into, (std::vector<std::int64_t>{5, -17, 15}));
}

TEST(Reduce, ASumWrapsWithoutUndefinedBehaviour) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

  EXPECT_EQ(reduce_one(kMost, 1, Reduction::sum), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace thalweg
