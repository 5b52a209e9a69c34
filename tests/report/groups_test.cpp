// Clustering: the groups of synthetic data, and the optimality of the cuts.
#include "methods/groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "made_results.hpp"

namespace tool {
namespace {

// One method per ratio, in three cells.
Results run_of(const std::vector<double>& ratios, double spread = 0.02) {
  Results results;
  for (const int ranks : {2, 4, 8}) {
    for (size_t i = 0; i < ratios.size(); ++i)
      add_times(results, "m" + std::to_string(i), made_cell(ranks), ratios[i] / ranks, "write", spread);
  }
  return results;
}

// Group numbers of the methods in the order of the ratios, e.g. "012".
std::string groups_of(const std::vector<double>& ratios, double spread = 0.02) {
  const Grouping grouping = group_methods(run_of(ratios, spread), "write");
  std::string text;
  for (size_t i = 0; i < ratios.size(); ++i)
    text += std::to_string(static_cast<int>(grouping.find("m" + std::to_string(i))->group));
  return text;
}

TEST(Groups, ThreeClearOnes) {
  EXPECT_EQ(groups_of({1, 1.05, 3, 3.1, 20, 22}), "001122");
  EXPECT_EQ(groups_of({20, 1, 3.1, 22, 1.05, 3}), "201201");
  EXPECT_EQ(groups_of({1, 3, 20}), "012");
}

TEST(Groups, TwoAndHowTheSecondIsCalled) {
  EXPECT_EQ(groups_of({1, 1.02, 1.04, 10, 10.3}), "00022");
  EXPECT_EQ(groups_of({1, 1.02, 1.5, 1.52}), "0011");
}

TEST(Groups, OneWhereTheyAreAlike) {
  EXPECT_EQ(groups_of({1, 1, 1, 1}), "0000");
  EXPECT_EQ(groups_of({1, 1.02, 1.05, 1.07}), "0000");
  EXPECT_EQ(groups_of({5}), "0");
  EXPECT_EQ(groups_of({1, 1.04}), "00");
}

TEST(Groups, TiesAreNeverParted) {
  EXPECT_EQ(groups_of({1, 1, 4, 4, 4}), "00222");
  EXPECT_EQ(groups_of({2, 2, 2, 2, 2, 2.0001}), "000000");
}

// Differences within the confidence intervals do not make two groups.
TEST(Groups, NoiseIsNotStructure) {
  EXPECT_EQ(groups_of({1, 1.4, 1.8}, 0.02), "012");
  EXPECT_EQ(groups_of({1, 1.4, 1.8}, 1.0), "000");
  std::mt19937 random(3);
  std::lognormal_distribution<double> noise(0, 0.02);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> ratios(12);
    for (double& ratio : ratios) ratio = noise(random);
    EXPECT_EQ(groups_of(ratios), std::string(12, '0'));
  }
}

TEST(Groups, NothingMeasured) {
  const Grouping none = group_methods(Results(), "write");
  EXPECT_TRUE(none.methods.empty());
  EXPECT_EQ(none.groups(), 0);
  EXPECT_EQ(none.find("m0"), nullptr);
}

TEST(Groups, RatiosAreGeometricMeansToTheBestOfEachCell) {
  Results results;
  add_times(results, "a", made_cell(2), 1);
  add_times(results, "b", made_cell(2), 4);
  add_times(results, "a", made_cell(4), 1);
  add_times(results, "b", made_cell(4), 1);
  add_times(results, "c", made_cell(4), 3);
  add_times(results, "b", made_cell(4), 9, "read");
  const Grouping grouping = group_methods(results, "write");
  EXPECT_NEAR(grouping.find("a")->ratio, 1, 1e-12);
  EXPECT_NEAR(grouping.find("b")->ratio, 2, 1e-12);
  EXPECT_NEAR(grouping.find("c")->ratio, 3, 1e-12);
  EXPECT_EQ(grouping.find("b")->cells, 2);
  EXPECT_EQ(grouping.find("c")->cells, 1);
}

TEST(Groups, DoNotDependOnTheOrderOfRecords) {
  Results results = run_of({1, 1.3, 2.5, 2.7, 9, 12, 1.1});
  const Grouping first = group_methods(results, "write");
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(results.times.begin(), results.times.end(), random);
    const Grouping again = group_methods(results, "write");
    ASSERT_EQ(again.methods.size(), first.methods.size());
    EXPECT_EQ(again.borders, first.borders);
    for (size_t i = 0; i < first.methods.size(); ++i) {
      EXPECT_EQ(again.methods[i].id, first.methods[i].id);
      EXPECT_EQ(again.methods[i].ratio, first.methods[i].ratio);
      EXPECT_EQ(again.methods[i].group, first.methods[i].group);
    }
  }
}

TEST(Groups, TimesOfZeroDoNoHarm) {
  Results results;
  add_times(results, "a", made_cell(2), 0);
  add_times(results, "b", made_cell(2), 1);
  const Grouping grouping = group_methods(results, "write");
  EXPECT_TRUE(std::isfinite(grouping.find("b")->ratio));
  EXPECT_EQ(grouping.find("a")->group, Group::efficient);
}

TEST(Groups, ARatioIsPlacedByTheBorders) {
  const Grouping grouping = group_methods(run_of({1, 1.05, 3, 3.1, 20, 22}), "write");
  EXPECT_EQ(grouping.group_at(1.2), Group::efficient);
  EXPECT_EQ(grouping.group_at(4), Group::moderate);
  EXPECT_EQ(grouping.group_at(100), Group::inefficient);
  const Grouping two = group_methods(run_of({1, 10}), "write");
  EXPECT_EQ(two.group_at(8), Group::inefficient);
}

double cost_of(const std::vector<double>& sorted, const std::vector<size_t>& cuts) {
  double cost = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const size_t end = i < cuts.size() ? cuts[i] : sorted.size();
    double mean = 0;
    for (size_t j = begin; j < end; ++j) mean += sorted[j] / static_cast<double>(end - begin);
    for (size_t j = begin; j < end; ++j) cost += (sorted[j] - mean) * (sorted[j] - mean);
    begin = end;
  }
  return cost;
}

// All possible cuts, for small n.
double least_cost(const std::vector<double>& sorted, size_t k) {
  double least = k == 1 ? cost_of(sorted, {}) : INFINITY;
  for (size_t a = 1; k > 1 && a < sorted.size(); ++a) {
    if (k == 2) least = std::min(least, cost_of(sorted, {a}));
    for (size_t b = a + 1; k == 3 && b < sorted.size(); ++b) least = std::min(least, cost_of(sorted, {a, b}));
  }
  return least;
}

TEST(Cuts, AreTheBestOfAll) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> draw(0, 4);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> values(1 + random() % 10);
    for (double& value : values) value = trial % 3 == 0 ? std::floor(draw(random)) : draw(random);
    std::ranges::sort(values);
    for (size_t k = 1; k <= std::min<size_t>(3, values.size()); ++k) {
      const std::vector<size_t> cuts = best_cuts(values, k);
      ASSERT_EQ(cuts.size(), k - 1);
      EXPECT_TRUE(std::ranges::is_sorted(cuts));
      EXPECT_NEAR(cost_of(values, cuts), least_cost(values, k), 1e-9);
    }
  }
}

}  // namespace
}  // namespace tool
