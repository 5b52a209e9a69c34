// Objects that threads find by number and create on first use.
#include "multifile/lazy_map.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/groups/meeting.hpp"

namespace thalweg {
namespace {

using Made = Result<std::unique_ptr<int>>;

Made make(int value) { return std::make_unique<int>(value); }

TEST(LazyMap, MakesWhatIsNotThere) {
  LazyMap<int> table;
  int* const first = table.get_or_make(7, [] { return make(1); }).value();
  EXPECT_EQ(*first, 1);
  EXPECT_EQ(table.get_or_make(7, [] { return make(2); }).value(), first);
}

TEST(LazyMap, TellsAllInTheOrderOfNumbers) {
  LazyMap<int> table;
  for (const std::uint32_t number : {5u, 1u, 3u})
    ASSERT_TRUE(table.get_or_make(number, [&] { return make(static_cast<int>(number)); }).has_value());
  const auto all = table.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(*all[0].second, 1);
  EXPECT_EQ(*all[2].second, 5);
}

TEST(LazyMap, TriesAgainAfterAFailure) {
  LazyMap<int> table;
  const auto failed = table.get_or_make(7, []() -> Made { return Status::error(Code::io_error, "no"); });
  EXPECT_EQ(failed.status().code(), Code::io_error);
  EXPECT_TRUE(table.all().empty());
  EXPECT_EQ(*table.get_or_make(7, [] { return make(2); }).value(), 2);
}

TEST(LazyMap, MakesDifferentThingsAtTheSameTime) {
  LazyMap<int> table;
  test::Meeting both(2);
  bool met[2] = {};
  const auto run = [&](std::uint32_t number) {
    (void)table.get_or_make(number, [&] {
      met[number] = both.come();
      return make(0);
    });
  };
  std::thread other(run, 1);
  run(0);
  other.join();

  EXPECT_TRUE(met[0] && met[1]);
}

TEST(LazyMap, MakesOneThingOnceForManyThreads) {
  LazyMap<int> table;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t number = 0; number < 100; ++number)
        (void)table.get_or_make(number, [&] { return make(++made); });
    });
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(made, 100);
}

}  // namespace
}  // namespace thalweg
