// ProcessAccess, and the GroupAccess derived from it: the result of all tasks' summaries.
#include "engine/process_access.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "known.hpp"

namespace thalweg {
namespace {

class Processes : public testing::Test {
 protected:
  Processes() : memory_(1000) {}

  // Task i has an extent of 10 * i bytes at 100 * i.
  std::vector<AccessSummary> blocks(std::size_t tasks) {
    std::vector<AccessSummary> all(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      lists_.push_back({{memory_.data(), 10 * i, 100 * i}});
      all[i].extents = summarise(lists_.back()).value();
      all[i].memory = memory_.data();
    }
    return all;
  }
  std::vector<std::byte> memory_;
  std::vector<std::vector<Extent>> lists_;
};

TEST_F(Processes, KnowsTheBytesBeforeEachTask) {
  const Known whole(blocks(4));

  EXPECT_EQ(whole.group.bytes, 60u);
  EXPECT_EQ(whole.bytes_before(0), 0u);
  EXPECT_EQ(whole.bytes_before(3), 30u);
  EXPECT_FALSE(whole.group.any_failed);
  EXPECT_FALSE(whole.group.has_lists);
}

TEST_F(Processes, SumsAreAtMostTheLargestNumber) {
  std::vector<AccessSummary> all(6);
  for (AccessSummary& shown : all) shown.extents = {.n = 1, .bytes = std::uint64_t{1} << 62, .runs = 1};

  EXPECT_EQ(Known(all).group.bytes, ~std::uint64_t{0});
}

TEST_F(Processes, PlacesTasksOneBehindTheOther) {
  std::vector<AccessSummary> all = blocks(4);
  for (AccessSummary& shown : all) shown.in_order = true;
  Known whole(all);

  whole.place_in_order(1000);

  EXPECT_TRUE(whole.group.in_order());
  EXPECT_EQ(whole.summary(1).extents.begin, 1000u);
  EXPECT_EQ(whole.summary(3).extents.begin, 1030u);
  EXPECT_EQ(whole.group.shape(), Shape::contiguous);
}

TEST_F(Processes, MakesTheListsOfTasksOfOneExtentAnew) {
  Known whole(blocks(4));

  const auto lists = whole.lists();

  ASSERT_EQ(lists.size(), 3u) << "task 0 has no byte";
  EXPECT_EQ(lists[2]->extents()[0], (Extent{memory_.data(), 30, 300}));
}

TEST_F(Processes, OfACommonAccessIsThatOfOneTask) {
  std::vector<AccessSummary> all(3, blocks(4)[3]);
  for (AccessSummary& shown : all) shown.common = true;
  Known whole(all);

  EXPECT_EQ(whole.group.bytes, 30u);
  EXPECT_EQ(whole.lists().size(), 1u);
  EXPECT_TRUE(whole.group.mismatch().ok());
}

TEST_F(Processes, SeesInWhatTasksDiffer) {
  const std::vector<std::function<void(AccessSummary&)>> differences = {
      [](AccessSummary& shown) { shown.direction = Direction::write; },
      [](AccessSummary& shown) { shown.common = true; },
      [](AccessSummary& shown) { shown.in_order = true; },
      [](AccessSummary& shown) { shown.file = reinterpret_cast<const SharedFile*>(&shown); },
  };
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t who = 0; who < 3; ++who) {
      std::vector<AccessSummary> all = blocks(3);
      differences[i](all[who]);
      const Known whole(all);

      EXPECT_EQ(whole.group.mismatch().code(), Code::invalid_argument) << i << " on task " << who;
    }
  }
}

// The fold over tasks of many processes gives the result of one process.
TEST_F(Processes, GroupAccessesAreEqualInWhateverOrderTheyAreJoined) {
  std::vector<AccessSummary> all = blocks(6);
  for (const bool in_order : {false, true}) {
    for (std::size_t different = 0; different <= all.size(); ++different) {
      std::vector<GroupAccess> parts;
      for (std::size_t i = 0; i < all.size(); ++i) {
        AccessSummary shown = all[i];
        shown.in_order = in_order;
        if (i == different) shown.direction = Direction::write;
        parts.emplace_back(shown, static_cast<TaskRank>(i));
      }
      GroupAccess one_by_one;
      for (const GroupAccess& one : parts) one_by_one.join(one);
      while (parts.size() > 1) {  // from the end
        parts[parts.size() - 2].join(parts.back());
        parts.pop_back();
      }
      EXPECT_EQ(parts[0].bytes, one_by_one.bytes);
      EXPECT_EQ(parts[0].mismatch().message(), one_by_one.mismatch().message());
      EXPECT_EQ(parts[0].mismatch().ok(), different == all.size());
      EXPECT_EQ(describe(parts[0]), describe(one_by_one));
      if (in_order) parts[0].shift(50);
      EXPECT_EQ(parts[0].begin, in_order ? 50u : 100u);
      EXPECT_EQ(parts[0].end, in_order ? 200u : 550u);
    }
  }
}

}  // namespace
}  // namespace thalweg
