// Runs and domains together: every byte moves to its place, for all small accesses and for random larger ones.
#include "engine/plan/runs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "support/models/extent_model.hpp"
#include "support/sanitized.hpp"

namespace thalweg {
namespace {

using model::Access;
using model::Place;
using model::Rules;

std::string text_of(const std::vector<std::vector<Place>>& tasks, Direction direction, const Rules& rules) {
  std::string text = direction == Direction::read ? "read" : "write";
  for (const auto& task : tasks) {
    text += " task";
    for (const Place& place : task) {
      text += std::string(place.gap_before ? " |" : " ") + "[" + std::to_string(place.offset) + "+" +
              std::to_string(place.bytes) + "]";
    }
  }
  return text + ", " + std::to_string(rules.workers) + " workers, blocks of " + std::to_string(rules.block) +
         ", runs of at most " + std::to_string(rules.limits.most_pieces) + " pieces and " +
         std::to_string(rules.limits.most_bytes) + " bytes";
}

// All places in a file of `bytes` bytes, including empty ones.
std::vector<Place> all_places(std::uint64_t bytes) {
  std::vector<Place> places;
  for (std::uint64_t begin = 0; begin <= bytes; ++begin) {
    for (std::uint64_t end = begin; end <= bytes; ++end) places.push_back({begin, end - begin, false});
  }
  return places;
}

struct Case {
  std::vector<std::vector<Place>> tasks;
  bool tight = false;  // small limits
};

// Both directions, 1 to 3 workers. False at the first wrong byte.
bool all_is_right(const Case& one) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    Access access(one.tasks, direction);
    for (std::size_t workers = 1; workers <= 3; ++workers) {
      const RunReader::Limits limits = one.tight ? RunReader::Limits{2, 2} : RunReader::Limits{};
      const Rules rules{workers, one.tight ? 2u : 1u, limits};
      const std::string problem = access.check(rules);
      EXPECT_EQ(problem, "") << text_of(one.tasks, direction, rules);
      if (!problem.empty()) return false;
    }
  }
  return true;
}

// Every list of `n` of `places`, with extents assigned to tasks by `task_of`.
void try_all_lists(const std::vector<Place>& places, const std::vector<std::size_t>& task_of, bool tight) {
  const std::size_t n = task_of.size();
  std::size_t total = 1;
  for (std::size_t i = 0; i < n; ++i) total *= places.size();
  for (std::size_t number = 0; number < total; ++number) {
    Case one{std::vector<std::vector<Place>>(1 + *std::max_element(task_of.begin(), task_of.end())), tight};
    std::size_t rest = number;
    for (std::size_t i = 0; i < n; ++i, rest /= places.size()) {
      one.tasks[task_of[i]].push_back(places[rest % places.size()]);
      one.tasks[task_of[i]].back().gap_before = i % 2 == 1;
    }
    if (!all_is_right(one)) return;
  }
}

TEST(AllSmallAccesses, OfOneExtentAndOfTwoAreRight) {
  for (const bool tight : {false, true}) {
    try_all_lists(all_places(7), {0}, tight);
    try_all_lists(all_places(7), {0, 0}, tight);
    try_all_lists(all_places(7), {0, 1}, tight);
  }
}

TEST(AllSmallAccesses, OfThreeExtentsOfOneTaskAreRight) {
  for (const bool tight : {false, true}) try_all_lists(all_places(6), {0, 0, 0}, tight);
}

TEST(AllSmallAccesses, OfThreeExtentsOfTwoTasksAreRight) {
  for (const bool tight : {false, true}) try_all_lists(all_places(6), {1, 0, 1}, tight);
}

TEST(AllSmallAccesses, OfThreeExtentsOfThreeTasksAreRight) {
  for (const bool tight : {false, true}) try_all_lists(all_places(6), {0, 1, 2}, tight);
}

TEST(AllSmallAccesses, OfFourExtentsOfOneTaskAreRight) {
  try_all_lists(all_places(test::tries_less() ? 4 : 5), {0, 0, 0, 0}, true);
}

TEST(AllSmallAccesses, OfFourExtentsOfTwoTasksAreRight) { try_all_lists(all_places(4), {0, 1, 0, 1}, false); }

std::vector<std::vector<Place>> random_tasks(std::mt19937& random) {
  const std::uint64_t file = 1 + random() % 300;
  const std::uint64_t longest = 1 + random() % 40;
  std::vector<std::vector<Place>> tasks(1 + random() % 5);
  for (auto& task : tasks) {
    const std::size_t n = random() % 12;
    std::uint64_t next = 0;
    const bool in_order = random() % 2 == 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t bytes = random() % (longest + 1);
      const std::uint64_t offset = in_order ? next + (random() % 2) * (random() % 10) : random() % file;
      next = offset + bytes;
      task.push_back({offset, bytes, random() % 2 == 0});
    }
  }
  return tasks;
}

TEST(RandomAccesses, AreRightForAllRules) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const auto tasks = random_tasks(random);
    const auto direction = random() % 2 == 0 ? Direction::read : Direction::write;
    const Rules rules{1 + random() % 7, std::uint64_t{1} << random() % 6, {1 + random() % 5, 1 + random() % 60}};
    Access access(tasks, direction);

    ASSERT_EQ(access.check(rules), "") << text_of(tasks, direction, rules);
  }
}

// Fixture of the tests below: lists over a common memory, and the runs of one domain.
class Runs : public testing::Test {
 protected:
  void add(std::vector<Extent> extents) {
    auto list = ExtentList::of(given_.emplace_back(std::move(extents)));
    ASSERT_TRUE(list.has_value()) << list.error().message();
    lists_.push_back(std::move(list).value());
  }
  std::vector<std::array<std::uint64_t, 3>> read_all(FileDomain domain, Direction direction,
                                                     RunReader::Limits limits = {}) {
    std::vector<const ExtentList*> pointers;
    for (const ExtentList& list : lists_) pointers.push_back(&list);
    RunReader reader(pointers, domain, direction, limits);
    std::vector<std::array<std::uint64_t, 3>> found;
    thalweg::Run run;  // not that of the test
    while (reader.next(run)) found.push_back({run.offset, run.bytes, run.pieces.size()});
    return found;
  }

  using Found = std::vector<std::array<std::uint64_t, 3>>;  // offset, bytes, pieces
  std::array<std::byte, 100> memory_{};
  std::vector<std::vector<Extent>> given_ = [] {
    std::vector<std::vector<Extent>> none;
    none.reserve(10);  // lists are borrowed
    return none;
  }();
  std::vector<ExtentList> lists_;
};

TEST_F(Runs, OfDifferentTasksThatTouchAreOne) {
  add({{memory_.data(), 4, 0}, {memory_.data() + 4, 4, 8}});
  add({{memory_.data() + 50, 4, 4}, {memory_.data() + 60, 4, 12}});

  EXPECT_EQ(read_all({0, 16}, Direction::write), (Found{{0, 16, 4}}));
}

TEST_F(Runs, CountNeighboursInMemoryAsOnePiece) {
  add({{memory_.data(), 4, 0}, {memory_.data() + 4, 4, 4}, {memory_.data() + 20, 4, 8}});

  EXPECT_EQ(read_all({0, 12}, Direction::read), (Found{{0, 12, 2}}));
}

TEST_F(Runs, AreCutAtTheBordersOfTheirDomain) {
  add({{memory_.data(), 10, 0}});

  EXPECT_EQ(read_all({3, 7}, Direction::read), (Found{{3, 4, 1}}));
  EXPECT_EQ(read_all({10, 20}, Direction::read), Found{});
  EXPECT_EQ(read_all({5, 5}, Direction::read), Found{});
}

TEST_F(Runs, AreGivenInPartsWhenOverTheLimits) {
  add({{memory_.data(), 3, 0}, {memory_.data() + 10, 3, 3}, {memory_.data() + 20, 4, 6}});

  EXPECT_EQ(read_all({0, 10}, Direction::write, {2, 100}), (Found{{0, 6, 2}, {6, 4, 1}}));
  EXPECT_EQ(read_all({0, 10}, Direction::write, {9, 4}), (Found{{0, 4, 2}, {4, 4, 2}, {8, 2, 1}}));
  EXPECT_EQ(read_all({0, 10}, Direction::read, {9, 4}), (Found{{0, 4, 2}, {4, 4, 2}, {8, 2, 1}}));
}

TEST_F(Runs, TakeLimitsOfNothingForTheSmallestOnes) {
  add({{memory_.data(), 2, 0}});

  EXPECT_EQ(read_all({0, 10}, Direction::read, {0, 0}), (Found{{0, 1, 1}, {1, 1, 1}}));
}

TEST_F(Runs, AreWrittenOnceWhereTheyOverlapAndReadForEach) {
  add({{memory_.data(), 6, 0}});
  add({{memory_.data() + 50, 6, 4}});

  EXPECT_EQ(read_all({0, 10}, Direction::write), (Found{{0, 10, 2}}));
  EXPECT_EQ(read_all({0, 10}, Direction::read), (Found{{0, 6, 1}, {4, 6, 1}}));
}

TEST_F(Runs, StayInFileOrderWhenALimitCutsWhatOverlaps) {
  add({{memory_.data(), 10, 0}});
  add({{memory_.data() + 50, 2, 1}});

  EXPECT_EQ(read_all({0, 10}, Direction::read, {9, 5}), (Found{{0, 5, 1}, {1, 2, 1}, {5, 5, 1}}));
}

TEST_F(Runs, ReachTheLargestOffset) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << 63) - 1;
  add({{memory_.data(), 4, largest - 4}});

  EXPECT_EQ(read_all({0, largest}, Direction::write), (Found{{largest - 4, 4, 1}}));
}

TEST_F(Runs, OfNoListAreNone) { EXPECT_EQ(read_all({0, 10}, Direction::read), Found{}); }

}  // namespace
}  // namespace thalweg
