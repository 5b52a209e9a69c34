// Driver: parking, stepping, many drivers on one thread.
#include "async/op.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

namespace thalweg {
namespace {

struct Flag {
  bool up = false;
  int asked_after_up = 0;
  int blocked = 0;

  static bool ready(void* self) {
    auto& flag = *static_cast<Flag*>(self);
    if (flag.up) ++flag.asked_after_up;
    return flag.up;
  }
  static void block(void* self) {
    auto& flag = *static_cast<Flag*>(self);
    ++flag.blocked;
    flag.up = true;
  }
  WaitPoint wait() { return {ready, nullptr, this}; }
  WaitPoint wait_blocking() { return {ready, block, this}; }
};

Op<int> wait_for(Flag& flag, int result) {
  co_await flag.wait();
  co_return result;
}

Op<int> sum_of_two(Flag& first, Flag& second) {
  const int a = co_await wait_for(first, 3);
  const int b = co_await wait_for(second, 4);
  co_return a + b;
}

Op<int> wait_blocking(Flag& flag) {
  co_await flag.wait_blocking();
  co_return 1;
}

Op<std::string> at_once(std::string text) { co_return text + "!"; }

TEST(Op, CompletesAtOnceWhenNothingIsAwaited) { EXPECT_EQ(run(at_once("done")), "done!"); }

TEST(Op, IsLazy) {
  Flag flag;
  flag.up = true;
  auto op = wait_for(flag, 1);

  EXPECT_FALSE(op.done());
  EXPECT_EQ(flag.asked_after_up, 0);
  op.start();
  EXPECT_TRUE(op.done());
}

TEST(Driver, ResumesOnlyWhatIsReady) {
  Driver driver;
  const Driver::Use use(driver);
  Flag first;
  Flag second;
  auto op = sum_of_two(first, second);
  op.start();

  EXPECT_FALSE(driver.step());
  second.up = true;
  EXPECT_FALSE(driver.step());
  first.up = true;
  EXPECT_TRUE(driver.step());

  ASSERT_TRUE(op.done());
  EXPECT_EQ(op.value(), 7);
  EXPECT_TRUE(driver.idle());
}

TEST(Driver, AsksAPointNoMoreOnceItWasReady) {
  Driver driver;
  const Driver::Use use(driver);
  Flag flag;
  auto op = wait_for(flag, 1);
  op.start();
  flag.up = true;

  while (driver.step()) continue;
  (void)driver.step();

  EXPECT_EQ(flag.asked_after_up, 1);
}

TEST(Driver, AdvancesManyOperationsInAnyOrder) {
  constexpr std::size_t kOps = 100;
  Driver driver;
  const Driver::Use use(driver);
  std::vector<Flag> flags(2 * kOps);
  std::vector<Op<int>> ops;
  for (std::size_t i = 0; i < kOps; ++i) ops.push_back(sum_of_two(flags[2 * i], flags[2 * i + 1]));
  for (auto& op : ops) op.start();

  for (std::size_t i = 0; i < flags.size(); ++i) {
    flags[(i * 37) % flags.size()].up = true;
    driver.step();
  }

  for (auto& op : ops) EXPECT_TRUE(op.done());
  EXPECT_TRUE(driver.idle());
}

TEST(Driver, BlocksInTheOnlyPointThatWaits) {
  Flag flag;

  EXPECT_EQ(run(wait_blocking(flag)), 1);

  EXPECT_EQ(flag.blocked, 1);
}

TEST(Driver, PollsWhenSeveralWait) {
  Driver driver;
  const Driver::Use use(driver);
  Flag first;
  Flag second;
  auto one = wait_blocking(first);
  auto two = wait_blocking(second);
  one.start();
  two.start();

  for (int i = 0; i < 5; ++i) driver.step_or_wait();

  EXPECT_EQ(first.blocked + second.blocked, 0);
  first.up = second.up = true;
  while (!driver.idle()) driver.step_or_wait();
}

TEST(Driver, OfAScopeHidesTheThreadsOwn) {
  Driver& own = Driver::current();
  Driver mine;
  {
    const Driver::Use use(mine);
    EXPECT_EQ(&Driver::current(), &mine);
  }

  EXPECT_EQ(&Driver::current(), &own);
}

TEST(Driver, SpinsOnlyInBlockingUseAndAlone) {
  Driver driver;
  EXPECT_FALSE(driver.may_spin());

  const Driver::Use use(driver);
  Flag flag;
  auto op = wait_for(flag, 1);
  const auto start = [&] {
    EXPECT_TRUE(driver.may_spin());
    op.start();
    EXPECT_FALSE(driver.may_spin());
    flag.up = true;
  };
  driver.block(start, [&] { return op.done(); });
  EXPECT_FALSE(driver.may_spin());
}

TEST(Driver, SpinsNoMoreWhereTheStartThrows) {
  Driver driver;
  const auto start = [] { throw std::bad_alloc(); };

  EXPECT_THROW(driver.block(start, [] { return true; }), std::bad_alloc);
  EXPECT_FALSE(driver.may_spin());
}

}  // namespace
}  // namespace thalweg
