// How a waiting thread goes from spinning to sleeping, by what next() answers: 0 after a yield, else a sleep.
#include "os/backoff.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace thalweg::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

unsigned yields(Backoff& backoff) {
  unsigned n = 0;
  while (backoff.next() == 0us) ++n;
  return n;
}

// Each test has a thread of its own: what a yield has told of the core is the thread's.
template <class Body>
void on_own_thread(Body&& body) {
  std::thread(body).join();
}

TEST(Backoff, YieldsForAWhileBeforeItSleeps) {
  on_own_thread([] {
    Backoff backoff;
    const auto begin = Clock::now();
    const unsigned n = yields(backoff);
    // Less only where another thread took the core.
    EXPECT_TRUE((n > 16 && Clock::now() - begin >= Backoff::kYielding) || backoff.next() > 0us);
  });
}

TEST(Backoff, YieldsForALittleWhileWhereTasksOutnumberCores) {
  on_own_thread([] {
    Backoff backoff({}, true);
    const auto begin = Clock::now();
    const unsigned n = yields(backoff);
    EXPECT_TRUE(n > 16 || Clock::now() - begin >= Backoff::kYieldingCrowded);  // few only where each took long
    EXPECT_GE(backoff.next(), 1us);
  });
}

TEST(Backoff, SleepsAnEighthOfTheWaitWithinItsLimits) {
  on_own_thread([] {
    Backoff backoff({.yields = false, .shortest = 50us, .longest = 1000us});
    EXPECT_EQ(backoff.next(), 50us);
    std::this_thread::sleep_for(4ms);
    const auto pause = backoff.next();
    EXPECT_GE(pause, 500us);
    EXPECT_LE(pause, 1000us);
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(backoff.next(), 1000us);
    backoff.reset();
    EXPECT_EQ(backoff.next(), 50us);
  });
}

TEST(Backoff, SpinsUntilReadyOrUntilItIsTimeToSleep) {
  on_own_thread([] {
    Backoff backoff;
    int looks = 0;
    EXPECT_TRUE(backoff.spin([&] { return ++looks == 100; }));
    EXPECT_EQ(looks, 100);
    EXPECT_FALSE(backoff.spin([] { return false; }));
  });
}

}  // namespace
}  // namespace thalweg::test
