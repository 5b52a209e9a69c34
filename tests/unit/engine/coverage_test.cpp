// Coverage: touched ranges, in any order of insertion, compared with one flag per byte.
#include "engine/plan/coverage.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace thalweg {
namespace {

std::vector<FileDomain> stretches_of(const Coverage& coverage, std::uint64_t from, std::uint64_t gap) {
  std::vector<FileDomain> all;
  for (FileDomain one = coverage.next(from, gap); !one.empty(); one = coverage.next(one.end, gap)) all.push_back(one);
  return all;
}

std::vector<FileDomain> stretches_of(const std::vector<bool>& touched, std::uint64_t begin, std::uint64_t gap) {
  std::vector<FileDomain> all;
  for (std::uint64_t i = 0; i < touched.size(); ++i) {
    if (!touched[i]) continue;
    const std::uint64_t at = begin + i;
    if (all.empty() || at - all.back().end > gap) {
      all.push_back({at, at + 1});
    } else {
      all.back().end = at + 1;
    }
  }
  return all;
}

TEST(Coverage, HasTheStretchesThatWereTouched) {
  std::mt19937_64 random(7);
  Coverage coverage;
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t begin = random() % 3 == 0 ? 0 : (std::uint64_t{1} << 62) + random() % 1000;
    const std::uint64_t bytes = 1 + random() % 700;
    coverage.begin({begin, begin + bytes});
    std::vector<bool> touched(bytes);
    for (std::uint64_t n = random() % 12; n > 0; --n) {
      const std::uint64_t from = random() % (bytes + 1);
      const std::uint64_t to = from + random() % (bytes - from + 1) % (random() % 2 == 0 ? 20 : 300);
      coverage.add(begin + from, begin + to);
      for (std::uint64_t i = from; i < to; ++i) touched[i] = true;
    }
    for (const std::uint64_t gap : {0, 1, 5, 64, 1000}) {
      const auto seen = stretches_of(coverage, 0, gap);
      const auto expected = stretches_of(touched, begin, gap);
      ASSERT_EQ(seen.size(), expected.size()) << "round " << round << ", gap " << gap;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        ASSERT_EQ(seen[i].begin, expected[i].begin);
        ASSERT_EQ(seen[i].end, expected[i].end);
      }
    }
  }
}

TEST(Coverage, OfNothingIsEmpty) {
  Coverage coverage;
  coverage.begin({100, 1000});

  EXPECT_TRUE(coverage.next(0, 10).empty());
}

}  // namespace
}  // namespace thalweg
