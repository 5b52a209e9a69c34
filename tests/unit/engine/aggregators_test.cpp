// File domains of aggregators, and the windows of their rounds.
#include "engine/plan/aggregators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace thalweg {
namespace {

TEST(EvenDomains, CoverTheRangeOnceWithBordersOnUnits) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t unit = std::uint64_t{1} << random() % 16;
    const std::uint64_t far = round % 2 == 0 ? 0 : (std::uint64_t{1} << 63) - (1 << 20);
    const FileDomain range{far + random() % 100000, far + 100001 + random() % 900000};
    const std::size_t n = 1 + random() % 9;

    const auto domains = even_domains(range, n, unit);

    ASSERT_EQ(domains.size(), n);
    std::uint64_t at = range.begin;
    for (const FileDomain& domain : domains) {
      if (domain.empty()) continue;
      ASSERT_EQ(domain.begin, at);
      ASSERT_TRUE(at == range.begin || at % unit == 0) << at << " of unit " << unit;
      at = domain.end;
    }
    ASSERT_EQ(at, range.end);
  }
}

TEST(EvenDomains, AreEmptyWhereUnitsAreFew) {
  const auto domains = even_domains({0, 5000}, 4, 4096);

  EXPECT_EQ(domains[0].end, 4096u);
  EXPECT_EQ(domains[1].end, 5000u);
  EXPECT_TRUE(domains[2].empty() && domains[3].empty());
}

TEST(EvenDomains, AreEqualWhereTheRangeIsAMultiple) {
  const auto domains = even_domains({0, 4 * 8192}, 4, 4096);

  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(domains[i].end, (i + 1) * 8192) << i;
}

TEST(EvenDomains, BeginOnDifferentTargetsOfAStripedFile) {
  constexpr std::uint64_t kStripe = 2 << 20, kTargets = 16;
  const auto domains = even_domains({0, 1024 * kStripe}, kTargets, kStripe);

  std::set<std::uint64_t> targets;
  for (const FileDomain& domain : domains) targets.insert(domain.begin / kStripe % kTargets);
  EXPECT_EQ(targets.size(), kTargets);
}

// Told or not, no number of stripes in a domain has a factor in common with that of the targets.
TEST(EvenDomains, BeginOnAllTargetsWhateverTheirNumber) {
  constexpr std::uint64_t kStripe = 1 << 20;
  for (const std::uint64_t targets : {3, 5, 6, 12, 15, 16, 30})
    for (std::uint64_t stripes = 16; stripes < 130; ++stripes)
      for (const std::uint64_t told : {std::uint64_t{0}, targets}) {
        if (told == 0 && stripes < 48) continue;
        const auto domains = even_domains({0, targets * stripes * kStripe}, targets, kStripe, told);
        std::set<std::uint64_t> first;
        std::size_t used = 0;
        for (const FileDomain& domain : domains) {
          if (domain.empty()) continue;
          first.insert(domain.begin / kStripe % targets);
          ++used;
        }
        EXPECT_EQ(first.size(), used) << stripes << " stripes over " << targets << " targets";
        EXPECT_LE(domains[0].end, (stripes + 5) * kStripe);
      }
}

// Bytes at `places`; each domain proposes its lowest remaining one.
RoundProposal proposal_of(const std::vector<std::uint64_t>& places, const Rounds& rounds) {
  RoundProposal all(rounds.n());
  for (std::size_t i = 0; i < rounds.n(); ++i) {
    const FileDomain rest = rounds.rest(i);
    for (const std::uint64_t place : places)
      if (place >= rest.begin && place < rest.end)
        all.lowest(i) = std::min(all.lowest(i), static_cast<std::int64_t>(place));
  }
  return all;
}

TEST(Rounds, HaveEachByteInOneWindow) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 40; ++i) places.push_back(random() % 100000);
    Rounds rounds(even_domains({0, 100000}, 1 + random() % 4, 4096), 4096 * (1 + random() % 3), 512);
    std::vector<int> seen(places.size(), 0);
    int n_rounds = 0;
    const bool limited = round % 2 == 1;
    for (;;) {
      RoundProposal all = proposal_of(places, rounds);
      for (std::size_t i = 0; i < rounds.n() && limited; ++i)
        if (all.lowest(i) != RoundProposal::kNone)
          all.end(i) = all.lowest(i) + 512 + static_cast<std::int64_t>(random() % 4000);
      if (!rounds.open(all)) break;
      ASSERT_LT(++n_rounds, 60);
      for (std::size_t i = 0; i < rounds.n(); ++i) {
        const FileDomain window = rounds.window(i);
        ASSERT_LE(window.end - window.begin / 512 * 512, 3u * 4096);
        ASSERT_TRUE(window.empty() || window.end <= static_cast<std::uint64_t>(all.end(i)) || window.end == 100000);
        for (std::size_t p = 0; p < places.size(); ++p)
          seen[p] += places[p] >= window.begin && places[p] < window.end ? 1 : 0;
      }
    }
    for (const int times : seen) ASSERT_EQ(times, 1);
  }
}

// So that a page has one aggregator in all accesses.
TEST(Rounds, HaveStripesWhoseDomainDependsOnTheOffsetAlone) {
  constexpr std::uint64_t kStripe = 8192;
  std::mt19937_64 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<Extent> extents;
    static std::byte memory[20000];
    for (int i = 0; i < 40; ++i) extents.push_back({memory, 1 + random() % 20000, random() % 300000});
    const ExtentList list = ExtentList::of(extents).value();
    const ExtentSummary& all_of_it = list.summary();
    const std::size_t n = 1 + random() % 4;
    Rounds rounds(std::vector<FileDomain>(n, {all_of_it.begin, all_of_it.end}), 4096 * (1 + random() % 3), 512, 0,
                  kStripe);
    std::uint64_t last = 0, bytes = 0;
    for (int n_rounds = 0;; ++n_rounds) {
      ASSERT_LT(n_rounds, 200);
      RoundProposal all(n);
      for (std::size_t i = 0; i < n; ++i)
        if (const std::uint64_t lowest = rounds.lowest_in(&list, i); lowest != Rounds::kNone)
          all.lowest(i) = static_cast<std::int64_t>(lowest);
      if (!rounds.open(all)) break;
      for (std::size_t i = 0; i < n; ++i) {
        const FileDomain window = rounds.window(i);
        if (window.empty()) continue;
        EXPECT_EQ(window.begin / kStripe % n, i);
        EXPECT_EQ((window.end - 1) / kStripe, window.begin / kStripe);
        bytes += list.bytes_before(window.end) - list.bytes_before(window.begin);
        last = std::max(last, window.end);
      }
    }
    EXPECT_EQ(bytes, list.bytes_before(all_of_it.end));
    EXPECT_EQ(last, all_of_it.end);
  }
}

TEST(Rounds, PassOverHolesOfAnySize) {
  Rounds rounds({{0, std::uint64_t{1} << 62}}, 1 << 20, 4096);
  const std::vector<std::uint64_t> places = {5, (std::uint64_t{1} << 62) - 1};
  int n_rounds = 0;
  while (rounds.open(proposal_of(places, rounds))) ++n_rounds;

  EXPECT_EQ(n_rounds, 2);
}

TEST(Rounds, RepeatAWindow) {
  Rounds rounds({{0, 100000}, {100000, 200000}}, 8192, 4096);
  const std::vector<std::uint64_t> places = {5, 9000, 100000, 190000};
  ASSERT_TRUE(rounds.open(proposal_of(places, rounds)));
  const FileDomain first = rounds.window(0);

  RoundProposal repeated = proposal_of(places, rounds);
  repeated.lowest(0) = static_cast<std::int64_t>(first.begin);
  EXPECT_TRUE(rounds.repeats(repeated, 0));
  EXPECT_FALSE(rounds.repeats(repeated, 1));
  ASSERT_TRUE(rounds.open(repeated));

  EXPECT_TRUE(rounds.window(0).empty());
  EXPECT_EQ(rounds.window_before(0).begin, first.begin);
  EXPECT_EQ(rounds.window(1).begin, 190000u);
  EXPECT_EQ(rounds.rest(0).begin, first.begin);
  ASSERT_TRUE(rounds.open(proposal_of(places, rounds)));
  EXPECT_EQ(rounds.window(0).begin, first.begin);
  EXPECT_EQ(rounds.window(0).end, first.end);
}

TEST(Rounds, MayBeOneThatHasEverything) {
  Rounds rounds(even_domains({100, 16384}, 3, 4096), 8192, 4096);
  RoundProposal all(3);

  EXPECT_TRUE(rounds.fit_one_round());
  EXPECT_FALSE(Rounds({{100, 8292}}, 8192, 4096).fit_one_round());  // the window begins on a block
  rounds.propose_all(all);
  EXPECT_TRUE(rounds.open(all));
  EXPECT_EQ(rounds.window(0).begin, 100u);
  EXPECT_EQ(rounds.window(1).end, 16384u);
  EXPECT_TRUE(rounds.window(2).empty());
  EXPECT_TRUE(rounds.at_end());
}

TEST(RoundProposal, OfAllHasTheMostReplyExchanges) {
  RoundProposal few(1), many(1);
  few.set_reply_exchanges(0);
  many.set_reply_exchanges(7);

  EXPECT_EQ(many.reply_exchanges(), 7);
  EXPECT_EQ(few.reply_exchanges(), 0);
  EXPECT_LT(many.numbers().back(), few.numbers().back());
}

TEST(AggregatorBudget, IsKept) {
  for (std::uint64_t bytes = 64 << 10; bytes <= std::uint64_t{1} << 30; bytes += bytes / 3) {
    const AggregatorBudget budget(bytes);
    EXPECT_EQ(budget.window % AggregatorBudget::kUnit, 0u);
    EXPECT_GE(budget.window, AggregatorBudget::kUnit);
    EXPECT_LE(4 * budget.window + 2 * (budget.window / 8) + 3 * budget.encoded + 2 * budget.relayed, bytes);
  }
}

}  // namespace
}  // namespace thalweg
