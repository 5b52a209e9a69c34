// The shape of an access, from the summaries of the tasks' lists.
#include "engine/plan/plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace thalweg {
namespace {

struct Block {
  std::uint64_t offset;
  std::uint64_t bytes;
};

// The memory of each task is one piece, unless `scattered`.
GroupAccess access_of(const std::vector<std::vector<Block>>& tasks, bool scattered = false) {
  GroupAccess all;
  for (const auto& blocks : tasks) {
    std::vector<Extent> extents;
    std::uintptr_t at = 4096;
    for (const Block& block : blocks) {
      extents.push_back({reinterpret_cast<std::byte*>(at), block.bytes, block.offset});
      at += block.bytes + (scattered ? 1 : 0);
    }
    AccessSummary task;
    task.extents = summarise(extents).value();
    all.join(GroupAccess(task, static_cast<std::int64_t>(all.tasks)));
  }
  return all;
}

Shape shape_of(const std::vector<std::vector<Block>>& tasks) { return access_of(tasks).shape(); }

TEST(Shape, IsEmptyWhenNobodyMovesAByte) {
  EXPECT_EQ(shape_of({}), Shape::empty);
  EXPECT_EQ(shape_of({{}, {{5, 0}}}), Shape::empty);
}

TEST(Shape, IsContiguousWhenTasksFollowEachOtherWithoutAHole) {
  EXPECT_EQ(shape_of({{{0, 10}}}), Shape::contiguous);
  EXPECT_EQ(shape_of({{{0, 10}}, {}, {{10, 5}, {15, 5}}, {{20, 1}}}), Shape::contiguous);
  EXPECT_EQ(shape_of({{{20, 10}}, {{10, 10}}, {{0, 10}}}), Shape::contiguous);  // last rank first
  EXPECT_EQ(shape_of({{{5, 5}, {0, 5}}}), Shape::contiguous);
}

TEST(Shape, IsStridedWhenEqualRunsLieAtEqualDistances) {
  EXPECT_EQ(shape_of({{{0, 4}, {10, 4}, {20, 4}}}), Shape::strided);
  EXPECT_EQ(shape_of({{{0, 4}, {10, 4}}, {{100, 4}, {110, 4}}}), Shape::strided);
  EXPECT_EQ(shape_of({{{0, 4}}, {{10, 4}}, {{20, 4}}}), Shape::strided);
  EXPECT_EQ(shape_of({{{20, 4}}, {{10, 4}}, {{0, 4}}}), Shape::strided);
}

TEST(Shape, IsInterleavedWhenTheRangesOfTasksLieWithinEachOther) {
  EXPECT_EQ(shape_of({{{0, 4}, {8, 4}}, {{4, 4}, {12, 4}}}), Shape::interleaved);
  EXPECT_EQ(shape_of({{{0, 4}, {100, 4}}, {{50, 4}}}), Shape::interleaved);
}

TEST(Shape, IsSparseWhenHolesAreOfNoRegularKind) {
  EXPECT_EQ(shape_of({{{0, 4}, {10, 4}, {21, 4}}}), Shape::sparse);
  EXPECT_EQ(shape_of({{{0, 4}, {10, 3}}}), Shape::sparse);
  EXPECT_EQ(shape_of({{{0, 4}, {10, 4}}, {{100, 4}, {111, 4}}}), Shape::sparse);
  EXPECT_EQ(shape_of({{{0, 4}}, {{10, 4}}, {{21, 4}}}), Shape::sparse);
}

TEST(Shape, IsOverlappingWhenBytesAreMovedTwice) {
  EXPECT_EQ(shape_of({{{0, 4}, {3, 4}, {100, 1}}}), Shape::overlapping);
  EXPECT_EQ(shape_of({{{0, 10}}, {{0, 10}}}), Shape::overlapping);
  EXPECT_EQ(shape_of({{{4, 10}, {0, 10}}}), Shape::overlapping);
}

TEST(GroupAccess, SumsWhatTheTasksMove) {
  const GroupAccess found = access_of({{{10, 4}, {20, 4}}, {{30, 16}, {46, 8}}}, true);

  EXPECT_EQ(found.bytes, 32u);
  EXPECT_EQ(found.begin, 10u);
  EXPECT_EQ(found.end, 54u);
  EXPECT_EQ(found.runs, 3u);
  EXPECT_EQ(found.pieces, 4u);
  EXPECT_DOUBLE_EQ(found.density(), 32.0 / 44);
  EXPECT_DOUBLE_EQ(found.largest_share(), 0.75);
}

TEST(GroupAccess, CountsNoFurtherThanItsNumbersReach) {
  AccessSummary huge;
  huge.extents.n = huge.extents.runs = huge.extents.pieces = 1;
  huge.extents.bytes = huge.extents.end = (std::uint64_t{1} << 63) - 1;
  GroupAccess found;
  for (std::int64_t i = 0; i < 5; ++i) found.join(GroupAccess(huge, i));

  EXPECT_EQ(found.bytes, ~std::uint64_t{0});
  EXPECT_EQ(found.shape(), Shape::overlapping);
  EXPECT_DOUBLE_EQ(found.density(), 1);
}

TEST(GroupAccess, IsDescribedInOneLine) {
  std::vector<std::vector<Block>> tasks(4);
  for (std::uint64_t i = 0; i < 400; ++i) tasks[i % 4].push_back({i * 2048, 1024});

  EXPECT_EQ(describe(access_of(tasks, true)),
            "interleaved: 4 tasks, 400 runs of 1.0 KiB, density 0.50, memory in 400 pieces");
  EXPECT_EQ(describe(access_of({{{0, 700}}})), "contiguous: 1 task, 1 run of 700.0 B, density 1.00, memory in 1 piece");
  EXPECT_EQ(describe(access_of({{}, {}, {}})), "empty: 3 tasks");
}

// Accesses are joined along a tree whose shape depends on the group.
TEST(GroupAccess, JoinsToTheSameInWhateverOrder) {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 3000; ++round) {
    std::vector<GroupAccess> parts;
    const std::uint64_t tasks = 2 + below(5);
    const std::uint64_t step = 1 + below(3) * 10;
    std::uint64_t at = below(50);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      std::vector<Extent> extents;
      for (std::uint64_t k = below(4); k > 0; --k) {
        const std::uint64_t bytes = below(3) == 0 ? below(12) : 10;
        extents.push_back({reinterpret_cast<std::byte*>(4096 + at), bytes, at});
        at += below(8) == 0 ? 0 : step;
      }
      AccessSummary task;
      task.extents = summarise(extents).value();
      parts.emplace_back(task, static_cast<std::int64_t>(i));
    }
    GroupAccess a;
    for (const GroupAccess& part : parts) a.join(part);
    std::vector<GroupAccess> tree = parts;
    while (tree.size() > 1) {
      const auto i = static_cast<std::ptrdiff_t>(below(tree.size() - 1));
      tree[static_cast<std::size_t>(i)].join(tree[static_cast<std::size_t>(i) + 1]);
      tree.erase(tree.begin() + i + 1);
    }
    const GroupAccess& b = tree[0];
    ASSERT_EQ(describe(a), describe(b));
    ASSERT_EQ(a.begin, b.begin);
    ASSERT_EQ(a.end, b.end);
    ASSERT_EQ(a.largest_share(), b.largest_share());
  }
}

}  // namespace
}  // namespace thalweg
