// When an access bypasses the page cache: where it must, or may and is cheaper.
#include <gtest/gtest.h>

#include "plan_case.hpp"

namespace thalweg {
namespace {

PlanCase block_of(std::uint64_t bytes, Direction direction = Direction::write) {
  PlanCase input;
  input.direction = direction;
  input.shape = Shape::contiguous;
  input.bytes = input.end = bytes;
  input.runs = input.pieces = 1;
  input.largest_share = 1;
  return input;
}

// A call costs as much as 10^5 bytes; a byte costs half of one through the page cache.
Strategy tuned() {
  Strategy strategy;
  strategy.direct_writes = strategy.direct_where_cheaper = true;
  strategy.costs.write_byte_ns = strategy.costs.staged_write_byte_ns = 0.2;
  strategy.direct_costs = strategy.costs;
  strategy.direct_costs.write_byte_ns = strategy.direct_costs.staged_write_byte_ns = 0.1;
  strategy.direct_costs.call_ns = 10'000 + strategy.costs.call_ns;
  return strategy;
}

constexpr DirectIo kAligned{.possible = true, .whole_blocks = true};
constexpr DirectIo kUnaligned{.possible = true, .whole_blocks = false};
constexpr std::uint64_t kSmall = 4096, kLarge = std::uint64_t{64} << 20;

TEST(Planning, AProfileGoesPastTheCacheOnlyWhereThatIsCheaper) {
  EXPECT_TRUE(plan_access(tuned(), block_of(kLarge), kAligned).past_cache);
  const Plan small = plan_access(tuned(), block_of(kSmall), kAligned);
  EXPECT_FALSE(small.past_cache);
  EXPECT_NE(describe(small).find("direct I/O would be slower for this access"), std::string::npos) << describe(small);
  EXPECT_FALSE(plan_access(tuned(), block_of(kLarge, Direction::read), kAligned).past_cache);
}

TEST(Planning, AFileWithoutDirectIoNeverDoes) { EXPECT_FALSE(plan_access(tuned(), block_of(kLarge), {}).past_cache); }

TEST(Planning, AHintIsObeyedAlsoWhereItIsDearer) {
  Strategy strategy = tuned();
  strategy.direct_where_cheaper = false;
  const Plan plan = plan_access(strategy, block_of(kSmall), kAligned);

  EXPECT_TRUE(plan.past_cache);
  EXPECT_NE(describe(plan).find(", past the page cache ("), std::string::npos);
}

TEST(Planning, TheNaiveMethodGoesThroughTheCache) {
  Strategy strategy = tuned();
  strategy.method = Method::naive;
  PlanCase input = block_of(kLarge);
  input.shared_memory = true;

  EXPECT_FALSE(plan_access(strategy, input, kAligned).past_cache);
}

// Alternating pieces of 64 bytes of all tasks, with holes between them.
PlanCase woven(Direction direction) {
  PlanCase input;
  input.direction = direction;
  input.tasks = 4;
  input.shared_memory = true;
  PlanCase& pattern = input;
  pattern.shape = Shape::interleaved;
  pattern.bytes = 4 * 1000 * 64;
  pattern.end = 2 * pattern.bytes;
  pattern.runs = pattern.pieces = 4000;
  pattern.largest_share = 0.25;
  return input;
}

// The whole plan changes, not only its name.
TEST(Planning, WritesThatMeetInABlockGoThroughTheCache) {
  Strategy strategy = tuned();
  strategy.direct_where_cheaper = false;
  strategy.direct_costs.call_ns = 1e9;
  PlanCase apart = woven(Direction::write);
  apart.shared_memory = false;

  EXPECT_TRUE(plan_access(strategy, apart, kAligned).past_cache);
  const Plan plan = plan_access(strategy, apart, kUnaligned);
  EXPECT_FALSE(plan.past_cache);
  EXPECT_NE(describe(plan).find("; through the page cache: tasks write parts of the same blocks"), std::string::npos);
  Plan without = plan_access(strategy, apart, {});
  EXPECT_NE(describe(without).find("; through the page cache: this file system has no direct I/O"), std::string::npos);
  without.cached_as = plan.cached_as;
  EXPECT_EQ(describe(plan), describe(without));
  strategy.direct_reads = true;
  apart.direction = Direction::read;
  EXPECT_TRUE(plan_access(strategy, apart, kUnaligned).past_cache) << "reading puts nothing back";
}

Plan forced(Method method, const PlanCase& input, std::size_t workers = 0) {
  Strategy strategy;
  strategy.sieve_writes = true;
  strategy.method = method;
  strategy.workers = workers;
  return plan_access(strategy, input, {});
}

// The plan of the cheapest method need not fit the forced one.
TEST(Planning, AForcedMethodHasThePlanOfThatMethod) {
  Strategy free;
  free.sieve_writes = true;
  const Plan chosen = plan_access(free, woven(Direction::write), {});
  ASSERT_TRUE(chosen.method == Method::shared && chosen.sieve);

  EXPECT_EQ(describe(forced(Method::shared, woven(Direction::write))).substr(0, 6), "shared");
  EXPECT_TRUE(forced(Method::shared, woven(Direction::write)).sieve);
  const Plan direct = forced(Method::direct, woven(Direction::write), 3);
  EXPECT_EQ(direct.method, Method::direct);
  EXPECT_FALSE(direct.sieve) << "windows of the tasks overlap";
  EXPECT_EQ(direct.workers, 1u);
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Plan naive = forced(Method::naive, woven(direction), 3);
    EXPECT_EQ(naive.method, Method::naive);
    EXPECT_FALSE(naive.sieve || naive.pack);
    EXPECT_EQ(naive.workers, 1u);
    EXPECT_STREQ(naive.reason, "the hint 'method' says so");
    EXPECT_GT(naive.expected_ns, 0);
  }
}

// Each task has one piece, so the cheapest plan writes each piece separately, without staging.
TEST(Planning, AForcedSharedMethodFindsItsOwnWorkers) {
  PlanCase even = block_of(kLarge);
  even.direction = Direction::read;
  even.tasks = 4;
  even.shared_memory = true;
  even.runs = even.pieces = 4;
  even.largest_share = 0.25;
  ASSERT_EQ(plan_access({}, even, {}).method, Method::direct);

  EXPECT_EQ(forced(Method::shared, even).workers, 4u);
  EXPECT_EQ(forced(Method::shared, even, 2).workers, 2u);
  EXPECT_EQ(forced(Method::shared, even, 99).workers, 4u);
  even.shared_memory = false;
  EXPECT_EQ(forced(Method::shared, even).method, Method::direct) << "nobody reaches the memory of others";
}

// Whatever a hint says: a node would write back old bytes of its neighbour in the page that both change.
TEST(Planning, NodesThatMustNotShareAPageWriteThroughAggregators) {
  PlanCase what = block_of(kLarge);
  what.tasks = 4;
  what.most_aggregators = 2;
  what.method = Method::direct;
  GroupAccess access = access_of(what);
  access.is_coherent = access.whole_blocks = false;
  Strategy strategy;
  strategy.method = Method::direct;
  EXPECT_EQ(choose_plan(access, strategy).method, Method::aggregate);
  access.whole_blocks = true;
  EXPECT_EQ(choose_plan(access, strategy).method, Method::direct);
  access.whole_blocks = false;
  access.first.direction = Direction::read;
  EXPECT_EQ(choose_plan(access, strategy).method, Method::direct);
}

TEST(Planning, NothingIsMovedNowhere) {
  EXPECT_FALSE(plan_access(tuned(), PlanCase{}, kAligned).past_cache);
  EXPECT_EQ(plan_access(tuned(), PlanCase{}, kAligned).method, Method::nothing);
}

}  // namespace
}  // namespace thalweg
