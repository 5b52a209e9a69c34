// Boxes of a shape: default boxes cover it, given boxes are checked, and local numbers match a loop.
#include "vpfile/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/campaign/random.hpp"

namespace thalweg {
namespace {

using test::below;

const VpShape kShapes[] = {{1}, {7}, {3, 4}, {1, 9}, {2, 2, 2}, {5, 1, 3}, {1, 1, 1, 1}, {4, 3, 2, 2}};

// Numbers, in the shape, of the VPs of a box, by a loop over all.
std::vector<std::uint64_t> numbers_of(const VpShape& shape, const VpBox& box) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape) n *= extent;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t vp = 0; vp < n; ++vp) {
    std::uint64_t rest = vp;
    bool inside = true;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const std::uint64_t at = rest % shape[i];
      rest /= shape[i];
      inside = inside && at >= box.start[i] && at < box.start[i] + box.count[i];
    }
    if (inside) numbers.push_back(vp);
  }
  return numbers;
}

VpBox random_box(const VpShape& shape, test::Random& random) {
  VpBox box;
  for (const std::uint64_t extent : shape) {
    box.start.push_back(below(random, extent + 1));
    box.count.push_back(below(random, extent - box.start.back() + 1));
  }
  return box;
}

TEST(VpBoxes, OfTheLibraryCoverTheShapeOnce) {
  for (const VpShape& shape : kShapes) {
    for (const std::uint64_t tasks : {1, 2, 3, 5, 8, 40}) {
      std::map<std::uint64_t, int> times;
      std::uint64_t most = 0;
      std::uint64_t least = ~0ull;
      for (std::uint64_t task = 0; task < tasks; ++task) {
        const VpBox box = default_box(shape, task, tasks);
        ASSERT_TRUE(check_box(shape, box).ok());
        const auto numbers = numbers_of(shape, box);
        for (const std::uint64_t vp : numbers) ++times[vp];
        most = std::max<std::uint64_t>(most, numbers.size());
        least = std::min<std::uint64_t>(least, numbers.size());
      }
      std::uint64_t n = 1;
      for (const std::uint64_t extent : shape) n *= extent;
      EXPECT_EQ(times.size(), n);
      for (const auto& [vp, count] : times) EXPECT_EQ(count, 1);
      if (tasks <= shape[0]) {
        EXPECT_LE(most - least, n / shape[0]) << "they differ by a slice at most";
      }
    }
  }
}

TEST(VpBoxes, CutTheFirstDimensionThatHasAPlaceForEveryTask) {
  EXPECT_EQ(default_box({3, 8}, 1, 4).count, (VpShape{3, 2}));
  EXPECT_EQ(default_box({3, 8}, 1, 3).count, (VpShape{1, 8}));
  EXPECT_EQ(default_box({3, 8}, 1, 20).count, (VpShape{3, 1}));
  EXPECT_EQ(default_box({3, 8}, 19, 20).count, (VpShape{3, 0}));
}

TEST(VpBoxes, LieInTheShapeOrAreRefused) {
  const VpShape shape{3, 4};
  EXPECT_TRUE(check_box(shape, {{0, 0}, {3, 4}}).ok());
  EXPECT_TRUE(check_box(shape, {{3, 4}, {0, 0}}).ok());
  EXPECT_FALSE(check_box(shape, {{0}, {3}}).ok());
  EXPECT_FALSE(check_box(shape, {{0, 0, 0}, {3, 4, 1}}).ok());
  EXPECT_FALSE(check_box(shape, {{0, 0}, {3}}).ok());
  EXPECT_FALSE(check_box(shape, {{1, 0}, {3, 4}}).ok());
  EXPECT_FALSE(check_box(shape, {{4, 0}, {0, 0}}).ok());
  EXPECT_FALSE(check_box(shape, {{1, 0}, {~0ull, 4}}).ok());
}

TEST(LocalVps, AreNumberedAsALoopDoes) {
  test::Random random(5);
  for (const VpShape& shape : kShapes) {
    for (int i = 0; i < 60; ++i) {
      const VpBox box = random_box(shape, random);
      const auto numbers = numbers_of(shape, box);
      const LocalVps vps(shape, box);
      ASSERT_EQ(vps.count(), numbers.size());
      std::uint64_t n = 1;
      for (const std::uint64_t extent : shape) n *= extent;
      for (std::uint64_t local = 0; local < numbers.size(); ++local) EXPECT_EQ(vps.number(local), numbers[local]);
      for (std::uint64_t vp = 0; vp < n + 5; ++vp) {
        const auto at = std::ranges::find(numbers, vp);
        const auto local = vps.local(vp);
        ASSERT_EQ(local.has_value(), at != numbers.end());
        if (local.has_value()) {
          EXPECT_EQ(*local, static_cast<std::uint64_t>(at - numbers.begin()));
        }
      }
      std::uint64_t in_runs = 0;
      for (std::uint64_t run = 0; run < vps.n_runs(); ++run)
        for (std::uint64_t k = 0; k < vps.run_length(); ++k) EXPECT_EQ(vps.run_begin(run) + k, numbers[in_runs++]);
      EXPECT_EQ(in_runs, numbers.size());
    }
  }
}

std::uint64_t count_of(const VpShape& shape) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape) n *= extent;
  return n;
}

// The fingerprint as a sum over boxes of one VP each.
std::uint64_t added_one_by_one(const VpShape& shape, const VpBox& box) {
  std::uint64_t sum = 0;
  for (std::uint64_t vp : numbers_of(shape, box)) {
    VpBox one{shape, VpShape(shape.size(), 1)};
    for (std::size_t i = shape.size(); i-- > 0; vp /= shape[i]) one.start[i] = vp % shape[i];
    sum = add_fingerprints(sum, fingerprint(one));
  }
  return sum;
}

TEST(Fingerprints, AddUpToThatOfTheShape) {
  for (const VpShape& shape : kShapes) {
    for (const std::uint64_t tasks : {1, 2, 5, 40}) {
      std::uint64_t sum = 0;
      for (std::uint64_t task = 0; task < tasks; ++task)
        sum = add_fingerprints(sum, fingerprint(default_box(shape, task, tasks)));
      EXPECT_EQ(sum, fingerprint(shape));
    }
  }
}

TEST(Fingerprints, AreTheSumOfThoseOfTheVps) {
  test::Random random(7);
  for (const VpShape& shape : kShapes) {
    EXPECT_EQ(fingerprint(shape), added_one_by_one(shape, {VpShape(shape.size(), 0), shape}));
    for (int i = 0; i < 20; ++i) {
      const VpBox box = random_box(shape, random);
      EXPECT_EQ(fingerprint(box), added_one_by_one(shape, box));
    }
  }
}

// Two boxes with the right number of VPs that do not cover the shape exactly once.
TEST(Fingerprints, TellOtherSetsApart) {
  test::Random random(11);
  int others = 0;
  for (int i = 0; i < 20000; ++i) {
    const VpShape& shape = kShapes[below(random, std::size(kShapes))];
    const VpBox one = random_box(shape, random);
    const VpBox two = random_box(shape, random);
    std::vector<std::uint64_t> numbers = numbers_of(shape, one);
    for (const std::uint64_t vp : numbers_of(shape, two)) numbers.push_back(vp);
    if (numbers.size() != count_of(shape)) continue;
    std::ranges::sort(numbers);
    const bool each_once = std::ranges::adjacent_find(numbers) == numbers.end();
    others += each_once ? 0 : 1;
    EXPECT_EQ(add_fingerprints(fingerprint(one), fingerprint(two)) == fingerprint(shape), each_once);
  }
  EXPECT_GT(others, 100);
}

TEST(Fingerprints, TellDimensionsApart) {
  EXPECT_EQ(fingerprint(VpBox{{3, 2}, {0, 5}}), 0u);
  EXPECT_NE(fingerprint(VpBox{{0, 1}, {1, 1}}), fingerprint(VpBox{{1, 0}, {1, 1}}));
  EXPECT_NE(fingerprint(VpBox{{0}, {1}}), fingerprint(VpBox{{1}, {1}}));
}

TEST(Fingerprints, OfManyVpsAndManyDimensions) {
  const VpShape long_one{std::uint64_t{1} << 40};
  EXPECT_EQ(add_fingerprints(fingerprint(default_box(long_one, 0, 2)), fingerprint(default_box(long_one, 1, 2))),
            fingerprint(long_one));
  VpShape deep(64, 1);
  deep[63] = 2;
  EXPECT_NE(fingerprint(deep), 0u);
  EXPECT_EQ(add_fingerprints(fingerprint(default_box(deep, 0, 2)), fingerprint(default_box(deep, 1, 2))),
            fingerprint(deep));
  EXPECT_NE(add_fingerprints(fingerprint(default_box(deep, 0, 2)), fingerprint(default_box(deep, 0, 2))),
            fingerprint(deep));
}

}  // namespace
}  // namespace thalweg
