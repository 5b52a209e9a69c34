// Records: accepted and refused input, its messages; medians and their intervals.
#include "methods/results.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "common.hpp"

namespace tool {
namespace {

constexpr const char* kCell = R"({"ranks":4,"grid":[2,2],"shape":[8,16],"order":"c","cache":"warm"})";

std::string time_line(const std::string& change_from = "", const std::string& change_to = "") {
  std::string line =
      std::string(R"({"kind":"time","method":"gather","cell":)") + kCell +
      R"(,"repetition":1,"phase":"write","seconds":0.5,"parts":{"open":0.1},"bytes":512,"cache":"sync"})";
  if (const size_t at = line.find(change_from); !change_from.empty()) {
    EXPECT_NE(at, std::string::npos) << change_from;
    line.replace(at, change_from.size(), change_to);
  }
  return line;
}

std::string refusal(const std::string& line) {
  Results results;
  try {
    add_record(results, line);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, kDamaged);
    EXPECT_TRUE(results.times.empty());
    return failure.what();
  }
  return {};
}

TEST(Records, ATimeIsTakenAsItIs) {
  Results results;
  add_record(results, time_line());
  ASSERT_EQ(results.times.size(), 1U);
  const TimeRecord& time = results.times[0];
  EXPECT_EQ(time.method, "gather");
  EXPECT_EQ(time.phase, "write");
  EXPECT_EQ(time.cache, "sync");
  EXPECT_EQ(time.cell.cache, "warm");
  EXPECT_EQ(time.cell.bytes(), 4 * 8 * 16);
  EXPECT_EQ(time.seconds, 0.5);
  EXPECT_EQ(time.open, 0.1);
  EXPECT_EQ(time.close, 0);
  EXPECT_EQ(time.bytes, 512);
  EXPECT_EQ(cell_text(time.cell), "4 ranks as 2x2, 8x16, c, warm");
}

TEST(Records, UnknownKindsAndMembersAreSkipped) {
  Results results;
  add_record(results, R"({"kind":"of tomorrow","x":[1]})");
  add_record(results, time_line("\"bytes\":512", "\"bytes\":512,\"new\":{}"));
  EXPECT_EQ(results.times.size(), 1U);
}

TEST(Records, WhatIsWrongIsNamed) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"\"seconds\":0.5", "\"seconds\":-1", "time record: 'seconds' is -1, not a nonnegative number"},
      {"\"seconds\":0.5", "\"seconds\":\"0.5\"", "time record: 'seconds' is \"0.5\", not a nonnegative number"},
      {"\"seconds\":0.5,", "", "time record: 'seconds' is missing"},
      {"\"method\":\"gather\"", "\"method\":\"\"", "time record: 'method' is empty"},
      {"\"method\":\"gather\"", "\"method\":7", "time record: 'method' is 7, not text"},
      {"\"ranks\":4", "\"ranks\":0", "time record: 'ranks' is 0, not a whole number from 1 to 16777216"},
      {"\"ranks\":4", "\"ranks\":1e3", "time record: 'ranks' is 1000.0, not a whole number from 1 to 16777216"},
      {"[8,16]", "[8,16,3,4]", "time record: 'shape' is [8,16,3,4], not a list of 1 to 3 numbers"},
      {"[8,16]", "[8,-16]", "time record: 'shape' has -16, not a whole number from 1 to 288230376151711744"},
      {"[8,16]", "[200000000,9000000000]", "time record: 'shape' has more elements than fit in a file"},
      {"[8,16]", "[18446744073709551615,1]",
       "time record: 'shape' has 18446744073709551615, not a whole number from 1 to 288230376151711744"},
      {"[2,2]", "[4]", "time record: 'grid' has 1 entries, but 'shape' 2"},
      {"\"order\":\"c\"", "\"order\":\"r\"", "time record: 'order' is 'r', not 'c' or 'f'"},
      {"\"cache\":\"warm\"", "\"cache\":\"\\u001b[2J\"",
       "time record: 'cache' is '\\x1b[2J', not warm, sync, drop or direct"},
      {"{\"open\":0.1}", "[]", "time record: 'parts' is [], not an object"},
      {kCell, "null", "time record: 'cell' is null, not an object"},
  };
  for (const auto& [from, to, message] : cases) EXPECT_EQ(refusal(time_line(from, to)), message);
}

TEST(Records, WhatIsNoRecordIsRefused) {
  for (const char* line : {"", "[", "7", "[]", "null", "{\"kind\":\"time\"", "\xff\xfe"})
    EXPECT_NE(refusal(line).find("is not a JSON object"), std::string::npos) << line;
  EXPECT_EQ(refusal("{}"), "unnamed record: 'kind' is missing");
  EXPECT_EQ(refusal(R"({"kind":3})"), "unnamed record: 'kind' is 3, not text");
  EXPECT_NE(refusal(std::string(100'000, '[')).find("is not a JSON object"), std::string::npos);
}

// Every line truncated anywhere, and every byte changed: refused or accepted, no other effect.
TEST(Records, DamageNeverDoesMore) {
  const std::string whole = time_line();
  std::mt19937 random(1);
  for (size_t length = 0; length < whole.size(); ++length) EXPECT_NE(refusal(whole.substr(0, length)), "");
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int i = 0; i < 20; ++i) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(random());
      Results results;
      try {
        add_record(results, damaged);
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.exit, kDamaged);
      }
    }
  }
}

TEST(Records, AMethodIsThereOnceAndBuiltWhereALaunchHadIt) {
  Results results;
  add_record(results,
             R"({"kind":"method","id":"b","number":9,"title":"B","built":false,"reason":"no","library":null})");
  add_record(results, R"({"kind":"method","id":"a","number":2,"title":"A","built":true,"reason":null})");
  add_record(results, R"({"kind":"method","id":"b","number":9,"title":"B","built":true,"library":"L 1"})");
  add_record(results, R"({"kind":"method","id":"b","number":9,"title":"B","built":false,"reason":"no"})");
  ASSERT_EQ(results.methods.size(), 2U);
  EXPECT_EQ(results.methods[0].id, "a");
  EXPECT_TRUE(results.methods[1].built);
  EXPECT_EQ(results.methods[1].library, "L 1");
}

TEST(Records, FailuresSkipsAndTheEnd) {
  Results results;
  add_record(results,
             std::string(R"({"kind":"failure","method":"a","cell":)") + kCell + R"(,"phase":"read","message":"m"})");
  add_record(results, R"({"kind":"skipped","method":"b","cell":null,"phase":null,"reason":"r"})");
  EXPECT_FALSE(results.complete);
  add_record(results, R"({"kind":"end","complete":true,"seconds":3})");
  ASSERT_EQ(results.mishaps.size(), 2U);
  EXPECT_TRUE(results.mishaps[0].failed && results.mishaps[0].has_cell);
  EXPECT_EQ(results.mishaps[0].message, "m");
  EXPECT_FALSE(results.mishaps[1].failed || results.mishaps[1].has_cell);
  EXPECT_EQ(results.mishaps[1].message, "r");
  EXPECT_TRUE(results.complete);
  EXPECT_EQ(results.seconds, 3);
}

TEST(Files, LineAndFileOfADamagedOneAreNamed) {
  const std::string path = testing::TempDir() + "damaged.jsonl";
  std::ofstream(path) << time_line() << "\n\n" << time_line().substr(0, 40) << "\n";
  try {
    (void)load_results(path);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("damaged.jsonl', line 3: not a record: "), std::string::npos)
        << failure.what();
  }
  std::ofstream(path) << "\n";
  EXPECT_THROW((void)load_results(path), Failure);
  EXPECT_THROW((void)load_results(path + ".is.not.there"), Failure);
  EXPECT_THROW((void)load_results(testing::TempDir()), Failure);
}

TEST(Rows, AreInOrderOfCellsPhasesAndNumbers) {
  Results results;
  add_record(results, R"({"kind":"method","id":"z","number":1,"title":"Z","built":true})");
  add_record(results, R"({"kind":"method","id":"a","number":2,"title":"A","built":true})");
  for (const char* phase : {"read", "of ours", "write"}) {
    for (const char* method : {"a", "z"}) {
      std::string line = time_line("\"phase\":\"write\"", "\"phase\":\"" + std::string(phase) + "\"");
      line.replace(line.find("gather"), 6, method);
      add_record(results, line);
    }
  }
  std::string order;
  for (const ResultRow& row : result_rows(results)) order += row.phase + " " + row.method + ";";
  EXPECT_EQ(order, "write z;write a;read z;read a;of ours z;of ours a;");
  EXPECT_EQ(json_of(result_rows(results)[0])["seconds"]["median"], 0.5);
}

// The definition, by counting all ways in which n values can be below or above the median.
size_t rank_by_counting(size_t n) {
  size_t best = 0;
  for (size_t k = 1; k <= n / 2; ++k) {
    double covered = 0, all = 0;
    for (uint32_t side = 0; side < (1U << n); ++side) {
      const auto below = static_cast<size_t>(__builtin_popcount(side));
      all += 1;
      if (below >= k && n - below >= k) covered += 1;
    }
    if (covered / all >= 0.95) best = k;
  }
  return best;
}

TEST(Interval, IsThatOfTheBinomialDistribution) {
  for (size_t n = 1; n <= 18; ++n) {
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) values.push_back(static_cast<double>(1 + (i * 7) % n));
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    const Estimate found = estimate(values);
    const size_t k = std::max<size_t>(rank_by_counting(n), 1);
    EXPECT_EQ(found.n, static_cast<int>(n));
    EXPECT_EQ(found.low, sorted[k - 1]) << n;
    EXPECT_EQ(found.high, sorted[n - k]) << n;
    EXPECT_EQ(found.median, (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
  }
}

TEST(Interval, KnownRanksAndManyValues) {
  const auto low_of = [](int n) {
    std::vector<double> values;
    for (int i = 1; i <= n; ++i) values.push_back(i);
    return estimate(values).low;
  };
  EXPECT_EQ(low_of(5), 1);  // no two of five reach the confidence
  EXPECT_EQ(low_of(6), 1);
  EXPECT_EQ(low_of(9), 2);
  EXPECT_EQ(low_of(20), 6);
  EXPECT_EQ(low_of(100), 40);
  EXPECT_NEAR(low_of(100'000), 50'000 - 1.96 * std::sqrt(100'000) / 2, 2);
  EXPECT_EQ(estimate({}).n, 0);
}

TEST(Interval, HoldsTheMedianAsOftenAsPromised) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> draw(0, 0.3);  // its median is 1
  int held = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(9);
    for (double& value : values) value = draw(random);
    const Estimate found = estimate(values);
    held += found.low <= 1 && 1 <= found.high ? 1 : 0;
  }
  EXPECT_GE(held, kTrials * 95 / 100);
}

}  // namespace
}  // namespace tool
