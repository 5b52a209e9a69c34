// THALWEG_LOG=plan. A process reads the environment once, so each test has a process of its own.
#include "engine/plan_log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace thalweg {
namespace {

class PlanLog : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void log_with(const char* topics) {
    setenv("THALWEG_LOG", topics, 1);
    GroupAccess access;
    access.first.direction = Direction::write;
    access.tasks = 2;
    access.bytes = access.end = 8;
    access.rising = access.falling = false;
    Plan plan;
    plan.method = Method::aggregate;
    plan.workers = 2;
    plan.reason = "so it is";
    log_plan("field.dat", access, plan);
    log_relay("field.dat", 960, 16);
    std::exit(0);
  }
};

TEST_F(PlanLog, TellsThePlanAndItsReason) {
  EXPECT_EXIT(log_with("plan"), testing::ExitedWithCode(0),
              "^thalweg: 'field.dat': write: interleaved: 2 tasks.*: aggregate by 2 aggregators \\(so it is");
}

TEST_F(PlanLog, LogsNodeRelays) {
  EXPECT_EXIT(log_with("plan"), testing::ExitedWithCode(0),
              "\n.*'field.dat': 960 tasks of 16 nodes .* pass their messages on\n$");
}

TEST_F(PlanLog, IsSilentUnlessAskedFor) { EXPECT_EXIT(log_with(""), testing::ExitedWithCode(0), "^$"); }

TEST_F(PlanLog, SaysWhatItDoesNotKnow) {
  EXPECT_EXIT(log_with("plans,plan"), testing::ExitedWithCode(0), "there is no topic 'plans'.*\n.*aggregate by 2");
}

}  // namespace
}  // namespace thalweg
