#include "group/mpi/rank_wait.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace thalweg::test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kPatience = 200;

// Rounds before the first sleep.
unsigned rounds(RankWait& wait, bool crowd, bool quiet, unsigned patience = kPatience) {
  unsigned n = 0;
  while (wait.next(patience, crowd, quiet).count() == 0) ++n;
  return n;
}

TEST(RankWait, YieldsAsLongAsOthersLeaveTheCore) {
  RankWait quiet, wanted, crowd, both;
  EXPECT_NEAR(rounds(quiet, false, true), RankWait::kQuietRounds, RankWait::kLooks);
  EXPECT_EQ(rounds(wanted, false, false), kPatience - 1);
  EXPECT_EQ(rounds(crowd, true, false), kPatience / RankWait::kCrowd - 1);
  EXPECT_EQ(rounds(both, true, true), kPatience / RankWait::kCrowd - 1);
}

TEST(RankWait, HasThePatienceItIsAskedForAtLeast) {
  RankWait wait;
  EXPECT_GE(rounds(wait, false, true, 5000), 4999u);
}

TEST(RankWait, SleepsLongerEachTimeUpToALimit) {
  RankWait wait;
  rounds(wait, false, false);
  for (unsigned i = 2; i < 1000; ++i)
    EXPECT_EQ(wait.next(kPatience, false, false).count(), std::min(i, RankWait::kLongestSleepUs));
}

TEST(RankWait, LooksBetweenSleepsWhereTheCoreIsQuiet) {
  RankWait wait;
  rounds(wait, false, true);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rounds(wait, false, true), RankWait::kLooks - 1);
}

// Somebody begins to want the core after many rounds: the first sleep is short all the same.
TEST(RankWait, BeginsWithAShortSleepWheneverItBegins) {
  RankWait wait;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(wait.next(kPatience, false, true).count(), 0);
  EXPECT_EQ(wait.next(kPatience, false, false).count(), 1);
}

TEST(OwnCore, IsWantedForSomeYieldsAfterALongOne) {
  OwnCore core;
  EXPECT_TRUE(core.is_quiet());
  core.yielded(OwnCore::kSwitch);
  EXPECT_TRUE(core.is_quiet());
  core.yielded(OwnCore::kSwitch + 1us);
  for (unsigned i = 0; i < OwnCore::kRemembered; ++i) {
    EXPECT_FALSE(core.is_quiet());
    core.yielded(1us);
  }
  EXPECT_TRUE(core.is_quiet());
}

}  // namespace
}  // namespace thalweg::test
