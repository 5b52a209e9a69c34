// The order of stripes: each byte has one position, each aggregator only its own targets, about as much as any other.
#include "engine/plan/stripe_order.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/plan/aggregators.hpp"
#include "engine/plan/plan.hpp"

namespace thalweg {
namespace {

ExtentList list_of(const std::vector<Extent>& extents) { return ExtentList::of(extents).value(); }

TEST(StripeOrder, NumbersOfAggregatorsSuitTheTargets) {
  const struct {
    std::size_t most;
    std::uint64_t targets;
    std::size_t suiting;
  } cases[] = {{1, 12, 1},   {5, 12, 4},  {6, 12, 6}, {8, 12, 6},  {11, 12, 6},    {12, 12, 12}, {23, 12, 12},
               {24, 12, 24}, {16, 7, 14}, {6, 7, 1},  {64, 1, 64}, {1000, 3, 999}, {0, 4, 1}};
  for (const auto& one : cases) {
    EXPECT_EQ(most_suiting(one.most, one.targets), one.suiting) << one.most << " of " << one.targets;
    EXPECT_TRUE(suits_targets(one.suiting, one.targets));
  }
}

TEST(StripeOrder, EveryByteHasOnePositionInTheDomainOfItsStripe) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t stripe = 1 + random() % 20, n = 2 + random() % 6;
    const std::uint64_t begin = random() % 300, end = begin + 1 + random() % 300;
    const StripeOrder order({begin, end}, n, stripe);
    const std::vector<FileDomain> domains = order.domains();
    ASSERT_EQ(domains.size(), n);
    std::vector<std::byte> memory(end - begin);
    std::set<std::uint64_t> positions;
    const std::vector<Extent> whole{{memory.data(), end - begin, begin}};
    for (const Extent& part : order.extents(list_of(whole))) {
      const auto offset = begin + static_cast<std::uint64_t>(part.memory - memory.data());
      const std::uint64_t owner = offset / stripe % n;
      EXPECT_GE(part.offset, domains[owner].begin);
      EXPECT_LE(part.end(), domains[owner].end);
      std::vector<Extent> back;
      order.append_in_file(part, back);
      ASSERT_EQ(back.size(), 1u);
      EXPECT_EQ(back[0], (Extent{part.memory, part.bytes, offset}));
      for (std::uint64_t i = 0; i < part.bytes; ++i) EXPECT_TRUE(positions.insert(part.offset + i).second);
    }
    EXPECT_EQ(positions.size(), end - begin);
  }
}

// Bytes of each domain below an offset of the file are those before end_in().
TEST(StripeOrder, EndsOfTheFileAreEndsOfDomains) {
  const StripeOrder order({130, 400}, 3, 10);
  std::vector<std::byte> memory(270);
  const std::vector<Extent> bytes = [&] {
    std::vector<Extent> all;
    for (std::uint64_t i = 0; i < 270; ++i) all.push_back({memory.data() + i, 1, 130 + i});
    return all;
  }();
  const std::vector<Extent> placed = order.extents(list_of(bytes));
  for (std::uint64_t end = 0; end < 500; ++end)
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t owner = bytes[i].offset / 10 % 3;
      EXPECT_EQ(placed[i].offset < order.end_in(owner, end), bytes[i].offset < end) << end << ", byte " << i;
    }
  EXPECT_GE(order.end_in(2, ~std::uint64_t{0} >> 1), order.domains()[2].end);
}

TEST(StripeOrder, IsOffWherePositionsWouldNotFit) {
  EXPECT_FALSE(StripeOrder().on());
  EXPECT_FALSE(StripeOrder({0, (std::uint64_t{1} << 63) - 1}, 4, 1 << 20).on());
  EXPECT_TRUE(StripeOrder({(std::uint64_t{1} << 62) - 100, std::uint64_t{1} << 62}, 4, 1 << 20).on());
}

TEST(StripeOrder, WindowsEndOnStripesWhereTheseFit) {
  Rounds rounds({{0, 100000}}, 12288, 4096, 8192);
  RoundProposal all(1);
  all.lowest(0) = 5000;
  ASSERT_TRUE(rounds.open(all));
  EXPECT_EQ(rounds.window(0).begin, 5000u);
  EXPECT_EQ(rounds.window(0).end, 8192u);
  all.lowest(0) = 8192;
  ASSERT_TRUE(rounds.open(all));
  EXPECT_EQ(rounds.window(0).end, 16384u);
  all.lowest(0) = 16384;
  all.end(0) = 17000;  // a task has too much for more
  ASSERT_TRUE(rounds.open(all));
  EXPECT_EQ(rounds.window(0).end, 20480u);

  Rounds small({{0, 100000}}, 12288, 4096, 65536);
  all.lowest(0) = 0;
  all.end(0) = RoundProposal::kNone;
  ASSERT_TRUE(small.open(all));
  EXPECT_EQ(small.window(0).end, 12288u);
}

GroupAccess interleaved(std::int64_t tasks, std::size_t most_aggregators) {
  GroupAccess all;
  for (std::int64_t i = 0; i < tasks; ++i) {
    AccessSummary summary;
    summary.direction = Direction::write;
    summary.extents.n = summary.extents.runs = summary.extents.pieces = 100000;
    summary.extents.bytes = 100000 * 1024;
    summary.extents.stride = static_cast<std::uint64_t>(tasks) * 1024;
    summary.extents.begin = static_cast<std::uint64_t>(i) * 1024;
    summary.extents.end = summary.extents.begin + 99999 * summary.extents.stride + 1024;
    all.join(GroupAccess(summary, i));
  }
  all.shared_memory = false;
  all.most_aggregators = most_aggregators;
  return all;
}

TEST(StripeOrder, PlansHaveTheLargestNumberOfAggregatorsThatSuits) {
  Strategy strategy;
  strategy.method = Method::aggregate;
  strategy.stripe_bytes = 1 << 20;
  for (const auto& [targets, aggregators] : {std::pair<std::uint32_t, std::size_t>{12, 6}, {4, 8}, {8, 8}, {7, 7}}) {
    strategy.stripe_count = targets;
    strategy.costs.parallel_writes = 0;
    EXPECT_EQ(choose_plan(interleaved(32, 8), strategy).workers, aggregators) << targets;
  }
  strategy.costs.parallel_writes = strategy.stripe_count = 4;  // a second writer of a target waits for its turn
  EXPECT_EQ(choose_plan(interleaved(4, 8), strategy).workers, 4u);
  strategy.aggregators = 5;
  EXPECT_EQ(choose_plan(interleaved(32, 8), strategy).workers, 5u) << "the hint holds";
}

}  // namespace
}  // namespace thalweg
