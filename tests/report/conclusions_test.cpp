// Each conclusion on runs that confirm it, refute it, or leave it open.
#include "methods/conclusions.hpp"

#include <gtest/gtest.h>

#include "made_results.hpp"
#include "methods/series.hpp"

namespace tool {
namespace {

Verdict verdict(const Results& results, int number) {
  const std::vector<Conclusion> all = conclusions(results);
  EXPECT_EQ(all.size(), 5U);
  const Conclusion& one = all.at(static_cast<size_t>(number - 1));
  EXPECT_EQ(one.number, number);
  EXPECT_FALSE(one.statement.empty() || one.criterion.empty() || one.numbers.empty());
  return one.verdict;
}

constexpr auto kYes = Verdict::confirmed, kNo = Verdict::refuted, kOpen = Verdict::not_decided;

TEST(Conclusions, NothingIsDecidedByNothing) {
  for (int number = 1; number <= 5; ++number) EXPECT_EQ(verdict(Results(), number), kOpen) << number;
}

TEST(Conclusions, OneRankDecidesNothing) {
  Results results;
  for (const char* method : {"gather", "file-per-task", "mpiio-global-0", "mpiio-global-3", "mpiio-chunk-0",
                             "mpiio-chunk-1", "mpiio-chunk-2", "mpiio-chunk-3", "hdf5-contiguous-collective"})
    add_times(results, method, made_cell(1), 1);
  for (int number = 1; number <= 5; ++number) EXPECT_EQ(verdict(results, number), kOpen) << number;
}

Results grouped(const std::vector<double>& at_two, const std::vector<double>& at_four) {
  Results results;
  for (size_t i = 0; i < at_two.size(); ++i) {
    add_times(results, "m" + std::to_string(i), made_cell(2), at_two[i]);
    add_times(results, "m" + std::to_string(i), made_cell(4), at_four[i]);
  }
  return results;
}

TEST(Conclusions, GroupsThatStay) {
  EXPECT_EQ(verdict(grouped({1, 1.1, 4, 4.2, 30, 33}, {1.1, 1, 5, 5.2, 50, 55}), 1), kYes);
  EXPECT_EQ(verdict(grouped({1, 1.1, 4, 4.2, 30, 33}, {30, 33, 5, 5.2, 1, 1.1}), 1), kNo);
  EXPECT_EQ(verdict(grouped({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}), 1), kNo);
  EXPECT_EQ(verdict(grouped({1, 4, 30}, {1, 4, 30}), 1), kOpen);
}

Results gathered(double seconds_at_eight, int64_t arrays) {
  Results results;
  add_times(results, "gather", made_cell(2), 1);
  add_times(results, "gather", made_cell(8), seconds_at_eight);
  add_times(results, "tw-collective", made_cell(2), 1);
  add_times(results, "tw-collective", made_cell(8), 0.3);
  results.methods = {{"gather", "Gather", 1, true, "", ""}, {"tw-collective", "C", 19, true, "", ""}};
  FactsRecord facts;
  facts.method = "gather";
  facts.cell = made_cell(8);
  facts.memory_bytes = arrays * facts.cell.bytes() / 10;
  if (arrays > 0) results.facts.push_back(facts);
  return results;
}

TEST(Conclusions, GatheringDoesNotScale) {
  EXPECT_EQ(verdict(gathered(1.1, 10), 2), kYes);
  EXPECT_EQ(verdict(gathered(0.95, 0), 2), kYes);
  EXPECT_EQ(verdict(gathered(0.3, 10), 2), kNo);
  EXPECT_EQ(verdict(gathered(1.1, 1), 2), kNo);
  Results one_count;
  add_times(one_count, "gather", made_cell(4), 1);
  EXPECT_EQ(verdict(one_count, 2), kOpen);
}

Results levels(double zero, const Cell& cell) {
  Results results;
  add_times(results, "mpiio-global-0", cell, zero);
  add_times(results, "mpiio-global-3", cell, 1);
  return results;
}

TEST(Conclusions, ExplicitOffsetsCollapse) {
  EXPECT_EQ(verdict(levels(9, made_cell(4)), 3), kYes);
  EXPECT_EQ(verdict(levels(1.1, made_cell(4)), 3), kNo);
  EXPECT_EQ(verdict(levels(0.2, made_cell(4)), 3), kNo);
  EXPECT_EQ(verdict(levels(1.6, made_cell(4)), 3), kOpen);
  EXPECT_EQ(verdict(levels(9, made_cell(4, 1024, {4, 1})), 3), kOpen);  // blocks are contiguous: inconclusive
}

Results chunks(double last_level, double files) {
  Results results;
  for (const char* level : {"mpiio-chunk-0", "mpiio-chunk-1", "mpiio-chunk-2"})
    add_times(results, level, made_cell(4), 1);
  add_times(results, "mpiio-chunk-3", made_cell(4), last_level);
  add_times(results, "file-per-task", made_cell(4), files);
  return results;
}

TEST(Conclusions, ChunksAreAlike) {
  EXPECT_EQ(verdict(chunks(1.1, 0.9), 4), kYes);
  EXPECT_EQ(verdict(chunks(1.8, 0.9), 4), kNo);
  EXPECT_EQ(verdict(chunks(1.1, 0.3), 4), kNo);
  EXPECT_EQ(verdict(chunks(1.4, 0.9), 4), kOpen);
}

Results library(double hdf5) {
  Results results;
  add_times(results, "mpiio-global-3", made_cell(4), 1);
  add_times(results, "hdf5-contiguous-collective", made_cell(4), hdf5);
  return results;
}

TEST(Conclusions, ALibraryIsCheap) {
  EXPECT_EQ(verdict(library(1.1), 5), kYes);
  EXPECT_EQ(verdict(library(0.8), 5), kYes);
  EXPECT_EQ(verdict(library(1.7), 5), kNo);
  EXPECT_EQ(verdict(library(1.4), 5), kOpen);
}

TEST(Blocks, AreContiguousWhereOnlyTheSlowestDimensionIsCut) {
  Cell cell = made_cell(4, 16, {4, 1});
  EXPECT_TRUE(is_contiguous(cell));
  cell.order = "f";
  EXPECT_FALSE(is_contiguous(cell));
  cell.grid = {1, 4};
  EXPECT_TRUE(is_contiguous(cell));
  cell = {4, {1, 4, 1}, {1, 16, 16}, "c", "warm"};
  EXPECT_TRUE(is_contiguous(cell));
  cell = {8, {2, 4, 1}, {2, 16, 16}, "c", "warm"};  // one plane each, then cut
  EXPECT_TRUE(is_contiguous(cell));
  cell = {8, {2, 4, 1}, {4, 16, 16}, "c", "warm"};
  EXPECT_FALSE(is_contiguous(cell));
}

TEST(Series, StrongWeakAndSizes) {
  Results results;
  for (const int ranks : {1, 4}) add_times(results, "gather", made_cell(ranks, 1024), 1);
  add_times(results, "gather", made_cell(4, 2048), 1);
  auto found = series_of(results);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].scaling, Scaling::strong);
  EXPECT_EQ(found[0].cells, (std::vector<Cell>{made_cell(1, 1024), made_cell(4, 1024)}));
  EXPECT_EQ(found[1].scaling, Scaling::weak);
  EXPECT_EQ(found[1].cells, (std::vector<Cell>{made_cell(1, 1024), made_cell(4, 2048)}));
  results.run["scaling"] = "strong";
  EXPECT_EQ(series_of(results).size(), 1U);
  results.times.erase(results.times.begin(), results.times.begin() + 7);  // those of one rank
  found = series_of(results);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].scaling, Scaling::size);
}

}  // namespace
}  // namespace tool
