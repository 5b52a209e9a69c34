// Converts times between ranks to the numbers that tune saves; they equal those of src/engine/plan/cost_model.cpp.
#include <gtest/gtest.h>

#include "tune_methods.hpp"

namespace tool {
namespace {

TEST(ExchangeCosts, AreThoseOfWhichTheTimesWereMade) {
  const Json costs = {{"copy_piece_ns", 3.0}, {"copy_byte_ns", 0.1}, {"staged_write_byte_ns", 0.1}};
  const double bytes = 4 << 20, n_long = 2048, n_short = 32768;
  const auto seconds = [&](double pieces) {
    return (2 * 20'000 + (bytes * (0.25 + 0.1 + 0.1) + pieces * (200 + 3)) / 2) * 1e-9;
  };

  const Json found = exchange_costs({2 * 20e-6, seconds(n_long), seconds(n_short), bytes, n_long, n_short}, costs, 2);

  EXPECT_NEAR(found["exchange_byte_ns"].get<double>(), 0.25, 0.01);
  EXPECT_NEAR(found["exchange_piece_ns"].get<double>(), 200, 1);
}

TEST(ExchangeCosts, OfTimesWithoutSenseAreInTheirRanges) {
  const Json found = exchange_costs({1e-3, 1e-6, 0, 4 << 20, 2048, 32768}, Json::object(), 64);

  EXPECT_GT(found["exchange_byte_ns"].get<double>(), 0);
  EXPECT_EQ(found["exchange_piece_ns"].get<double>(), 0);
}

TEST(MessageCosts, AreThoseOfTwoRanks) {
  const Json near = Json::parse(R"([{"ranks": 4, "latency_seconds": 9, "barrier_seconds": 9},
                                    {"ranks": 2, "latency_seconds": 1e-6, "barrier_seconds": 1e-6}])");
  const Json far = Json::parse(R"([{"ranks": 2, "latency_seconds": 1e-4, "barrier_seconds": 1e-4}])");

  EXPECT_NEAR(message_costs(near)["message_ns"].get<double>(), 3000, 1e-6);
  EXPECT_NEAR(message_costs(near)["round_ns"].get<double>(), 20'000, 1e-6);
  EXPECT_NEAR(message_costs(far)["round_ns"].get<double>(), 200'000, 1e-6);
  EXPECT_TRUE(message_costs(Json::array()).empty());
}

TEST(CalibratedRanks, AreMeasuredOnce) {
  EXPECT_EQ(calibrated_ranks(1), (std::vector<int>{2, 1}));
  EXPECT_EQ(calibrated_ranks(2), (std::vector<int>{2, 1, 4}));
  EXPECT_EQ(calibrated_ranks(64), (std::vector<int>{2, 1, 16}));
}

}  // namespace
}  // namespace tool
