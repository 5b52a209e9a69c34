// An access that is one call of one worker is recognised, with its pieces merged; no other access is.
#include "engine/execute.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "known.hpp"

namespace thalweg {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 10;

class OneCall : public testing::Test {
 protected:
  OneCall() : memory_(1 << 20) { plan_.method = Method::shared; }

  // A task's extent: `bytes` from `place` of the memory to `offset`.
  void task(std::uint64_t place, std::uint64_t bytes, std::uint64_t offset) {
    AccessSummary shown;
    const Extent extent{memory_.data() + place, bytes, offset};
    shown.extents = summarise({&extent, 1}).value();
    shown.memory = extent.memory;
    all_.push_back(shown);
  }
  bool is_one() const { return is_one_call(Known(all_).group, plan_); }

  std::vector<std::byte> memory_;
  std::vector<AccessSummary> all_;
  Plan plan_;
};

TEST_F(OneCall, NeighboursInMemoryAreOnePiece) {
  task(0, 100, 1000);
  task(100, 50, 1100);
  task(700, 0, 0);
  task(500, 10, 1150);

  Known known(all_);
  std::array<Piece, ProcessAccess::kMostPieces> room;
  const auto pieces = known.pieces(room);

  EXPECT_TRUE(is_one());
  EXPECT_EQ(known.group.begin, 1000u);
  EXPECT_EQ(known.group.end, 1160u);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].memory, memory_.data());
  EXPECT_EQ(pieces[0].bytes, 150u);
  EXPECT_EQ(pieces[1].memory, memory_.data() + 500);
  EXPECT_EQ(pieces[1].bytes, 10u);
}

TEST_F(OneCall, HolesOverlapsAndOtherOrdersAreNone) {
  task(0, 100, 1000);
  for (const std::uint64_t offset : {900u, 1000u, 1099u, 1101u}) {
    task(200, 100, offset);
    EXPECT_FALSE(is_one()) << offset;
    all_.pop_back();
  }
}

TEST_F(OneCall, ManyBytesAndManyTasksAreNone) {
  task(0, kMostBytes, 0);
  EXPECT_TRUE(is_one());
  task(kMostBytes, 1, kMostBytes);
  EXPECT_FALSE(is_one());

  all_.clear();
  for (std::size_t i = 0; i < ProcessAccess::kMostPieces; ++i) task(2 * i, 1, i);
  EXPECT_TRUE(is_one());
  task(0, 0, 0);
  EXPECT_FALSE(is_one());
}

TEST_F(OneCall, PlansThatDoMoreThanTransferAreNone) {
  task(0, 100, 1000);
  task(100, 50, 1100);
  const auto with = [&](auto change) {
    Plan plan = plan_;
    change(plan);
    return is_one_call(Known(all_).group, plan);
  };

  EXPECT_TRUE(with([](Plan&) {}));
  EXPECT_FALSE(with([](Plan& plan) { plan.workers = 2; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.pack = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.sieve = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.past_cache = true; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.method = Method::naive; }));
  EXPECT_FALSE(with([](Plan& plan) { plan.method = Method::direct; }));
}

TEST_F(OneCall, WhatIsCommonIsMovedOnce) {
  task(0, 100, 1000);
  task(0, 100, 1000);
  for (AccessSummary& shown : all_) shown.common = true;

  Known known(all_);

  EXPECT_TRUE(is_one());
  EXPECT_EQ(known.group.end, 1100u);
  std::array<Piece, ProcessAccess::kMostPieces> room;
  EXPECT_EQ(known.pieces(room).size(), 1u);
}

}  // namespace
}  // namespace thalweg
