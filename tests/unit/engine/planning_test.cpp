// Past the page cache where it must be, or may be and is cheaper.
#include "engine/planning.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

PlanInput block_of(std::uint64_t bytes, Direction direction = Direction::write) {
  PlanInput input;
  input.direction = direction;
  input.pattern.shape = Shape::contiguous;
  input.pattern.bytes = input.pattern.end = bytes;
  input.pattern.runs = input.pattern.pieces = 1;
  input.pattern.largest_share = 1;
  return input;
}

// A call costs as much as 10^5 bytes, a byte half of one through the page cache.
Strategy tuned() {
  Strategy strategy;
  strategy.direct_writes = strategy.direct_where_cheaper = true;
  strategy.costs.write_byte_ns = strategy.costs.staged_write_byte_ns = 0.2;
  strategy.direct_costs = strategy.costs;
  strategy.direct_costs.write_byte_ns = strategy.direct_costs.staged_write_byte_ns = 0.1;
  strategy.direct_costs.call_ns = 10'000 + strategy.costs.call_ns;
  return strategy;
}

constexpr std::uint64_t kSmall = 4096, kLarge = std::uint64_t{64} << 20;

TEST(Planning, AProfileGoesPastTheCacheOnlyWhereThatIsCheaper) {
  EXPECT_TRUE(plan_access(tuned(), block_of(kLarge), true).past_cache);
  EXPECT_FALSE(plan_access(tuned(), block_of(kSmall), true).past_cache);
  EXPECT_FALSE(plan_access(tuned(), block_of(kLarge, Direction::read), true).past_cache);
}

TEST(Planning, AFileWithoutDirectIoNeverDoes) {
  EXPECT_FALSE(plan_access(tuned(), block_of(kLarge), false).past_cache);
}

TEST(Planning, AHintIsObeyedAlsoWhereItIsDearer) {
  Strategy strategy = tuned();
  strategy.direct_where_cheaper = false;
  const Plan plan = plan_access(strategy, block_of(kSmall), true);

  EXPECT_TRUE(plan.past_cache);
  EXPECT_NE(describe(plan).find(", past the page cache ("), std::string::npos);
}

TEST(Planning, TheNaiveMethodGoesThroughTheCache) {
  Strategy strategy = tuned();
  strategy.method = Method::naive;
  PlanInput input = block_of(kLarge);
  input.shared_memory = true;

  EXPECT_FALSE(plan_access(strategy, input, true).past_cache);
}

TEST(Planning, NothingIsMovedNowhere) {
  EXPECT_FALSE(plan_access(tuned(), PlanInput{}, true).past_cache);
  EXPECT_EQ(plan_access(tuned(), PlanInput{}, true).method, Method::nothing);
}

}  // namespace
}  // namespace thalweg
