// Makes the page of a file of records for browser_test.py: report_page RESULTS PAGE [validate]
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "common.hpp"
#include "methods/page.hpp"

namespace {

// Predictions with errors of up to 30 %.
std::vector<tool::ValidationPoint> made_points(const tool::Results& results) {
  std::vector<tool::ValidationPoint> points;
  int i = 0;
  for (const tool::ResultRow& row : tool::result_rows(results)) {
    if (row.phase != "write") continue;
    const double off = std::exp(0.26 * std::sin(1.7 * ++i));
    points.push_back({row.method, row.cell, row.phase, row.seconds.median * off, row.seconds.median, i % 4 == 0});
  }
  return points;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    const tool::Results results = tool::load_results(argv[1]);
    const bool validate = argc > 3 && std::string_view(argv[3]) == "validate";
    const auto points = validate ? made_points(results) : std::vector<tool::ValidationPoint>();
    std::ofstream(argv[2], std::ios::binary) << tool::html_page(results, points);
  } catch (const tool::Failure& failure) {
    fmt::print(stderr, "report_page: {}\n", failure.what());
    return failure.exit;
  }
  return 0;
}
