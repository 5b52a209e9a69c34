// The model of methods: its terms, the fit of known constants, and its error.
#include "advise/model.hpp"

#include <gtest/gtest.h>

#include "advise/nnls.hpp"
#include "advise/validation.hpp"

namespace tool {
namespace {

Cell cell_with(int ranks, std::vector<int> grid, std::vector<int64_t> shape, const std::string& order = "c") {
  Cell cell;
  cell.ranks = ranks;
  cell.grid = std::move(grid);
  cell.shape = std::move(shape);
  cell.order = order;
  return cell;
}

const methods::MethodInfo& method(const char* id) { return *methods::find_method(id); }

TEST(Nnls, FindsWhatMadeTheTimes) {
  const std::vector<double> right = {0.5, 0, 3};
  std::vector<Observation> seen;
  for (double a = 1; a < 6; ++a)
    for (double b = 1; b < 4; ++b) seen.push_back({{1, a, b * b}, sum_of_terms({1, a, b * b}, right)});

  const std::vector<double> found = fit_constants(seen, {0, 0, 0});

  for (size_t j = 0; j < right.size(); ++j) EXPECT_NEAR(found[j], right[j], 0.1 * right[j] + 0.05);
}

TEST(Nnls, OneWildTimeDoesNotMoveTheOthers) {
  std::vector<Observation> seen;
  for (double bytes = 1; bytes <= 16; bytes *= 2) seen.push_back({{1, bytes}, 2 + 5 * bytes});
  seen.push_back({{1, 4}, 500});

  const std::vector<double> found = fit_constants(seen, {0, 0});

  EXPECT_NEAR(found[1], 5, 0.5);
}

TEST(Nnls, WhereNothingIsKnownTheGuessHolds) {
  const std::vector<double> found = fit_constants({{{1, 0}, 2}, {{2, 0}, 4}}, {0, 7});

  EXPECT_NEAR(found[0], 2, 0.05);
  EXPECT_DOUBLE_EQ(found[1], 7);
}

TEST(Runs, AreCountedByTheFirstDimensionThatIsCut) {
  EXPECT_EQ(runs_of(cell_with(4, {2, 2}, {10, 20}), {2, 2}), 20);
  EXPECT_EQ(runs_of(cell_with(4, {4, 1}, {10, 20}), {4, 1}), 4);
  EXPECT_EQ(runs_of(cell_with(4, {1, 4}, {10, 20}), {1, 4}), 40);
  EXPECT_EQ(runs_of(cell_with(4, {1, 4}, {10, 20}, "f"), {1, 4}), 4);
  EXPECT_EQ(runs_of(cell_with(1, {1, 1}, {10, 20}), {1, 1}), 1);
  EXPECT_EQ(runs_of(cell_with(8, {2, 2, 2}, {4, 6, 8}), {2, 2, 2}), 48);
}

TEST(Runs, OfTwoCutsHaveThePartsOfBoth) {
  const Cell cell = cell_with(2, {1, 2}, {10, 12});

  EXPECT_EQ(runs_of(cell, {1, 3}, {1, 2}), 10 * 4);
  EXPECT_EQ(runs_of(cell, {1, 2}, {1, 2}), 10 * 2);
  EXPECT_EQ(load_of(cell, "restart", 3, 2).ranks, 3);
  EXPECT_EQ(load_of(cell, "read", 3, 2).ranks, 2);
}

TEST(Terms, RanksThatShareCoresMeetSlowly) {
  Load load;
  load.bytes = 4096;
  load.cores = 2;
  load.ranks = 2;
  const double two = terms_of(method("tw-collective"), "write", load)[kMeeting];
  load.ranks = 4;

  EXPECT_GT(terms_of(method("tw-collective"), "write", load)[kMeeting], 4 * two);
  load.ranks = 1;
  EXPECT_EQ(terms_of(method("tw-collective"), "write", load)[kMeeting], 0);
}

TEST(Terms, OnlyMethodsThatMakeTheArrayHaveItsPieces) {
  Load load;
  load.ranks = 2;
  load.cores = 2;
  load.runs = 1000;
  load.cuts = 50;

  EXPECT_EQ(terms_of(method("mpiio-global-0"), "write", load)[kRun], 500);
  EXPECT_EQ(terms_of(method("file-per-task"), "write", load)[kRun], 1);
  EXPECT_EQ(terms_of(method("file-per-task"), "restart", load)[kRun], 25);
}

// Times of a made-up machine, with one constant for each kind of cost.
Results made_results(const std::vector<Cell>& cells, double scale = 1) {
  Results results;
  for (const Cell& cell : cells) {
    for (const char* id : {"file-per-task", "tw-collective", "gather"}) {
      for (const char* phase : {"write", "read"}) {
        const std::vector<double> terms = terms_of(method(id), phase, load_of(cell, phase, 0, 2));
        const bool gathers = std::string(id) == "gather";
        TimeRecord time;
        time.method = id;
        time.phase = phase;
        time.cell = cell;
        time.cache = cell.cache;
        time.bytes = cell.bytes();
        time.seconds = scale * (1e-4 * terms[kFixed] + 5e-5 * terms[kPerRank] +
                                (gathers ? 1e-9 : 2e-10) * terms[kByte] + 1e-8 * terms[kRun]);
        results.times.push_back(time);
      }
    }
  }
  return results;
}

std::vector<Cell> calibration_cells() {
  std::vector<Cell> cells;
  for (const int ranks : {1, 2, 4})
    for (const int64_t side : {128, 512, 2048}) cells.push_back(cell_with(ranks, {ranks, 1}, {side, side}));
  cells.push_back(cell_with(2, {1, 2}, {4096, 256}));
  return cells;
}

TEST(Calibration, PredictsCellsThatItHasNotSeen) {
  const Calibration calibration = calibrate(made_results(calibration_cells()), 2, {});
  const Json entry = {{"methods", json_of(calibration)}};
  const Results others = made_results({cell_with(3, {3, 1}, {700, 900}), cell_with(2, {1, 2}, {1000, 1000}, "f")});

  const auto points = validate(others, entry, 2);
  const ValidationSummary sum = summary_of(points);

  EXPECT_EQ(points.size(), 12u);
  EXPECT_FALSE(sum.of_tuning);
  EXPECT_LT(sum.median_error, 0.1);
  EXPECT_EQ(sum.choices, 4u);
  EXPECT_EQ(sum.good_choices, 4u);
}

TEST(Calibration, CellsThatItWasMadeOfAreToldApart) {
  const Results seen = made_results(calibration_cells());
  const Json entry = {{"methods", json_of(calibrate(seen, 2, {}))}};

  const auto points = validate(seen, entry, 2);

  EXPECT_TRUE(summary_of(points).of_tuning);
  EXPECT_TRUE(points.at(0).used_for_tuning);
}

// Times that the model cannot explain: the error of a fitted cell is smaller than that of a cell left out.
TEST(Calibration, CellsLeftOutAreMetWorseThanThoseItWasMadeOf) {
  Results seen = made_results(calibration_cells());
  for (size_t i = 0; i < seen.times.size(); ++i) seen.times[i].seconds *= 1 + 0.3 * static_cast<double>(i * 7 % 5);

  Calibration made = calibrate(seen, 2, {});
  made.median_error = summary_of(validate(seen, {{"methods", json_of(made)}}, 2)).median_error;

  EXPECT_GT(made.left_out_error, made.median_error);
  EXPECT_EQ(made.told_error(), made.left_out_error);
  EXPECT_EQ(calibration_of({{"methods", json_of(made)}}).left_out_error, made.left_out_error);
}

TEST(Calibration, ExactTimesAreMetWhereTheyAreLeftOut) {
  const Calibration made = calibrate(made_results(calibration_cells()), 2, {});

  EXPECT_GT(made.left_out_error, 0);
  EXPECT_LT(made.left_out_error, 0.1);
}

TEST(Calibration, FewCellsLeaveNoneOut) {
  std::vector<Cell> cells = calibration_cells();
  cells.resize(3);
  const Calibration made = calibrate(made_results(cells), 2, {});

  EXPECT_FALSE(made.empty());
  EXPECT_EQ(made.left_out_error, 0);
}

TEST(Calibration, GoesThroughJsonAsItIs) {
  Calibration calibration = calibrate(made_results(calibration_cells()), 2, {});
  calibration.mpi = "MPICH 4.0.2";

  const Calibration again = calibration_of(Json{{"methods", json_of(calibration)}});

  EXPECT_EQ(again.mpi, "MPICH 4.0.2");
  EXPECT_EQ(again.cores, 2);
  EXPECT_EQ(again.cells, calibration.cells);
  EXPECT_EQ(again.constants, calibration.constants);
}

TEST(Calibration, WhatIsNoneIsEmpty) {
  for (const char* text :
       {"null", "{}", R"({"methods": 5})", R"({"methods": {"gather": []}})",
        R"({"methods": {"gather": {"write": {"byte": -1}}}})", R"({"methods": {"gather": {"write": {"byte": "x"}}}})"})
    EXPECT_TRUE(calibration_of(Json::parse(text)).empty()) << text;
}

TEST(Validation, OfAnotherCacheSaysNothing) {
  const Json entry = {{"methods", json_of(calibrate(made_results(calibration_cells()), 2, {}))}};
  Cell cell = cell_with(2, {2, 1}, {300, 300});
  cell.cache = "direct";

  EXPECT_TRUE(validate(made_results({cell}), entry, 2).empty());
}

}  // namespace
}  // namespace tool
