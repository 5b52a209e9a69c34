// The campaign itself: equal seeds give equal runs, and errors are detected.
#include "support/campaign/campaign.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace thalweg::test {
namespace {

std::string text_of(const Scenario& scenario) {
  std::ostringstream text;
  text << scenario;
  return text.str();
}

TEST(Campaign, ASeedDrawsTheSameAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(text_of(draw_scenario(seed)), text_of(draw_scenario(seed)));
  EXPECT_NE(text_of(draw_scenario(1)), text_of(draw_scenario(2)));
}

TEST(Campaign, ASeedEndsTheSameAgain) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    const Played first = play(draw_scenario(seed));
    const Played second = play(draw_scenario(seed));

    EXPECT_EQ(first.problem, "");
    EXPECT_EQ(first.failed, second.failed);
    EXPECT_EQ(first.fault_hit, second.fault_hit);
  }
}

TEST(Campaign, AByteThatNobodyWroteIsNoticed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scenario scenario = draw_scenario(seed);
    scenario.spoils = true;

    EXPECT_NE(play(scenario).problem, "") << scenario;
  }
}

}  // namespace
}  // namespace thalweg::test
