// Whole: what all tasks conclude from what each has shown.
#include "engine/shown.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "known.hpp"

namespace thalweg {
namespace {

class WholeOf : public testing::Test {
 protected:
  WholeOf() : memory_(1000) {}

  // Task i has an extent of 10 * i bytes at 100 * i.
  std::vector<Shown> blocks(std::size_t tasks) {
    std::vector<Shown> all(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      lists_.push_back({{memory_.data(), 10 * i, 100 * i}});
      all[i].summary = summarise(lists_.back()).value();
      all[i].list = memory_.data();
    }
    return all;
  }
  std::vector<std::byte> memory_;
  std::vector<std::vector<Extent>> lists_;
};

TEST_F(WholeOf, KnowsTheBytesBeforeEachTask) {
  const Known whole(blocks(4));

  EXPECT_EQ(whole.facts().bytes(), 60u);
  EXPECT_EQ(whole.bytes_before(0), 0u);
  EXPECT_EQ(whole.bytes_before(3), 30u);
  EXPECT_FALSE(whole.facts().any_wrong());
  EXPECT_FALSE(whole.facts().has_lists());
}

TEST_F(WholeOf, SumsAreAtMostTheLargestNumber) {
  std::vector<Shown> all(6);
  for (Shown& shown : all) shown.summary = {.n = 1, .bytes = std::uint64_t{1} << 62, .runs = 1};

  EXPECT_EQ(Known(all).facts().bytes(), ~std::uint64_t{0});
}

TEST_F(WholeOf, PlacesTasksOneBehindTheOther) {
  std::vector<Shown> all = blocks(4);
  for (Shown& shown : all) shown.placement = Placement::in_order;
  Known whole(all);

  whole.place_in_order(1000);

  EXPECT_TRUE(whole.facts().in_order());
  EXPECT_EQ(whole.shown(1).summary.begin, 1000u);
  EXPECT_EQ(whole.shown(3).summary.begin, 1030u);
  EXPECT_EQ(whole.facts().pattern(1000).shape, Shape::contiguous);
}

TEST_F(WholeOf, MakesTheListsOfTasksOfOneExtentAnew) {
  Known whole(blocks(4));

  const auto lists = whole.lists(0, 4);

  ASSERT_EQ(lists.size(), 3u) << "task 0 has no byte";
  EXPECT_EQ(lists[2]->extents()[0], (Extent{memory_.data(), 30, 300}));
}

TEST_F(WholeOf, OfACommonAccessIsThatOfOneTask) {
  std::vector<Shown> all(3, blocks(4)[3]);
  for (Shown& shown : all) shown.common = true;
  Known whole(all);

  EXPECT_EQ(whole.facts().bytes(), 30u);
  EXPECT_EQ(whole.lists(0, 3).size(), 1u);
  EXPECT_TRUE(whole.facts().mismatch().ok());
}

TEST_F(WholeOf, SeesInWhatTasksDiffer) {
  const std::vector<std::function<void(Shown&)>> differences = {
      [](Shown& shown) { shown.direction = Direction::write; },
      [](Shown& shown) { shown.common = true; },
      [](Shown& shown) { shown.placement = Placement::in_order; },
      [](Shown& shown) { shown.file = reinterpret_cast<const SharedFile*>(&shown); },
  };
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t who = 0; who < 3; ++who) {
      std::vector<Shown> all = blocks(3);
      differences[i](all[who]);
      const Known whole(all);

      EXPECT_EQ(whole.facts().mismatch().code(), Code::invalid_argument) << i << " on task " << who;
    }
  }
}

// What tasks of many processes find out in a fold is what those of one process see.
TEST_F(WholeOf, FactsAreTheSameInWhateverOrderTheyAreJoined) {
  std::vector<Shown> all = blocks(6);
  for (const bool in_order : {false, true}) {
    for (std::size_t different = 0; different <= all.size(); ++different) {
      std::vector<Facts> facts;
      for (std::size_t i = 0; i < all.size(); ++i) {
        Shown shown = all[i];
        shown.placement = in_order ? Placement::in_order : Placement::at_extents;
        if (i == different) shown.direction = Direction::write;
        facts.emplace_back(shown, static_cast<TaskRank>(i));
      }
      Facts one_by_one;
      for (const Facts& one : facts) one_by_one.join(one);
      while (facts.size() > 1) {  // from the end
        facts[facts.size() - 2].join(facts.back());
        facts.pop_back();
      }
      EXPECT_EQ(facts[0].bytes(), one_by_one.bytes());
      EXPECT_EQ(facts[0].mismatch().message(), one_by_one.mismatch().message());
      EXPECT_EQ(facts[0].mismatch().ok(), different == all.size());
      EXPECT_EQ(describe(facts[0].pattern(50), 6), describe(one_by_one.pattern(50), 6));
      EXPECT_EQ(facts[0].pattern(50).begin, in_order ? 50u : 100u);
      EXPECT_EQ(facts[0].pattern(50).end, in_order ? 200u : 550u);
    }
  }
}

}  // namespace
}  // namespace thalweg
