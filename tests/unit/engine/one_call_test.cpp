// OneCall: what is one call of one worker is found to be, with its pieces merged, and nothing else is.
#include "engine/transfer/one_call.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "known.hpp"

namespace thalweg {
namespace {

class OneCallOf : public testing::Test {
 protected:
  OneCallOf() : memory_(1 << 20) { plan_.method = Method::shared; }

  // A task's extent: `bytes` from `place` of the memory to `offset`.
  void task(std::uint64_t place, std::uint64_t bytes, std::uint64_t offset) {
    Shown shown;
    const Extent extent{memory_.data() + place, bytes, offset};
    shown.summary = summarise({&extent, 1}).value();
    shown.list = extent.memory;
    all_.push_back(shown);
  }
  std::optional<OneCall> call() const { return OneCall::of(Known(all_), plan_); }

  std::vector<std::byte> memory_;
  std::vector<Shown> all_;
  Plan plan_;
};

TEST_F(OneCallOf, NeighboursInMemoryAreOnePiece) {
  task(0, 100, 1000);
  task(100, 50, 1100);
  task(700, 0, 0);
  task(500, 10, 1150);

  const auto one = call();

  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->range().begin, 1000u);
  EXPECT_EQ(one->range().end, 1160u);
  ASSERT_EQ(one->pieces().size(), 2u);
  EXPECT_EQ(one->pieces()[0].memory, memory_.data());
  EXPECT_EQ(one->pieces()[0].bytes, 150u);
  EXPECT_EQ(one->pieces()[1].memory, memory_.data() + 500);
  EXPECT_EQ(one->pieces()[1].bytes, 10u);
}

TEST_F(OneCallOf, HolesOverlapsAndOtherOrdersAreNone) {
  task(0, 100, 1000);
  for (const std::uint64_t offset : {900u, 1000u, 1099u, 1101u}) {
    task(200, 100, offset);
    EXPECT_FALSE(call().has_value()) << offset;
    all_.pop_back();
  }
}

TEST_F(OneCallOf, ManyBytesAndManyTasksAreNone) {
  task(0, OneCall::kMostBytes, 0);
  EXPECT_TRUE(call().has_value());
  task(OneCall::kMostBytes, 1, OneCall::kMostBytes);
  EXPECT_FALSE(call().has_value());

  all_.clear();
  for (std::size_t i = 0; i < OneCall::kMostTasks; ++i) task(2 * i, 1, i);
  EXPECT_TRUE(call().has_value());
  task(0, 0, 0);
  EXPECT_FALSE(call().has_value());
}

TEST_F(OneCallOf, PlansThatDoMoreThanTransferAreNone) {
  task(0, 100, 1000);
  task(100, 50, 1100);
  const auto with = [&](auto change) {
    Plan plan = plan_;
    change(plan);
    return OneCall::of(Known(all_), plan).has_value();
  };

  EXPECT_TRUE(with([](Plan&) {}));
  EXPECT_FALSE(with([](Plan& plan) { plan.workers = 2; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.pack = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.sieve = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.past_cache = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.method = Method::naive; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.method = Method::direct; }));
  all_.pop_back();
  EXPECT_TRUE(with([](Plan& plan) { plan.method = Method::direct; }));
}

TEST_F(OneCallOf, WhatIsCommonIsMovedOnce) {
  task(0, 100, 1000);
  task(0, 100, 1000);
  for (Shown& shown : all_) shown.common = true;

  const auto one = call();

  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->range().end, 1100u);
  EXPECT_EQ(one->pieces().size(), 1u);
}

}  // namespace
}  // namespace thalweg
