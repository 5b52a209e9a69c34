// Summary of a model's errors, and its presentation on the page.
#include "methods/validation_summary.hpp"

#include <gtest/gtest.h>

#include "made_results.hpp"
#include "methods/page.hpp"

namespace tool {
namespace {

ValidationPoint point_of(const char* method, int ranks, double predicted, double measured, bool tuned = false) {
  return {method, made_cell(ranks, 4096), "write", predicted, measured, tuned};
}

// For 2 ranks the choice is right, for 3 ranks it is 1.5 times as slow as the best; 4 ranks were used for tuning.
std::vector<ValidationPoint> points() {
  return {point_of("gather", 2, 1.0, 2.0),  point_of("file-per-task", 2, 4.0, 5.0),
          point_of("gather", 3, 1.0, 3.0),  point_of("file-per-task", 3, 2.0, 2.0),
          point_of("gather", 4, 1.0, 1.25), point_of("file-per-task", 4, 2.0, 2.5, true)};
}

TEST(ValidationSummary, OfWhatWasNotTunedWith) {
  const ValidationSummary sum = summary_of(points());

  EXPECT_FALSE(sum.of_tuning);
  EXPECT_EQ(sum.points, 5u);
  EXPECT_NEAR(sum.median_error, 0.2, 1e-12);  // 0.5, 0.2, 0.667, 0, 0.2
  EXPECT_NEAR(sum.largest_error, 2.0 / 3, 1e-12);
  EXPECT_EQ(sum.choices, 2u);  // the choice for 4 ranks belongs to tuning, though one of its points does not
  EXPECT_EQ(sum.good_choices, 1u);
  EXPECT_NEAR(sum.worst_choice, 1.5, 1e-12);
}

TEST(ValidationSummary, OfWhatWasTunedWith) {
  const ValidationSummary sum = summary_of(points(), true);

  EXPECT_TRUE(sum.of_tuning);
  EXPECT_EQ(sum.points, 1u);
  EXPECT_EQ(sum.choices, 1u);
  EXPECT_EQ(sum.good_choices, 1u);
}

TEST(ValidationSummary, APredictionOfNoTimeIsAnErrorAndAMeasurementOfNoneIsNothing) {
  const std::vector<ValidationPoint> odd = {point_of("gather", 2, 0, 2), point_of("file-per-task", 2, 1, 0)};

  const ValidationSummary sum = summary_of(odd);

  EXPECT_EQ(sum.points, 1u);
  EXPECT_EQ(sum.largest_error, 1.0);
  EXPECT_EQ(sum.choices, 0u);
  EXPECT_EQ(summary_of({}).points, 0u);
}

TEST(ValidationSummary, ThePageSaysTheSame) {
  auto all = points();
  all.push_back(point_of("task-local", 2, 0, 4));
  const ValidationSummary sum = summary_of(all);
  ASSERT_EQ(sum.points, 6u);
  ASSERT_EQ(sum.good_choices, 0u);  // the slower method has no prediction

  const std::string page = html_page(Results(), all, {"", "", ""});

  EXPECT_NE(page.find("<td>6</td><td>35.0 %</td><td>100 %</td><td>0 of 2 (0 %)</td>"), std::string::npos)
      << page.substr(page.find("id=\"validation\""));
}

}  // namespace
}  // namespace tool
