#include "plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include "common.hpp"
#include "methods/array.hpp"

namespace tool {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int64_t kMostElements = int64_t{1} << 60;

int64_t number_of(std::string_view word, int64_t most, const std::string& text, const char* what) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > most)
    throw Failure(kUsage, fmt::format("{} '{}': '{}' is not a number from 1 to {}", what, text, word, most));
  return number;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, separator)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

std::vector<int64_t> shape_of(const std::string& text) {
  std::vector<int64_t> shape = parse_extents(text, "--size");
  if (shape.size() == 1) shape.push_back(shape[0]);
  if (shape.size() > 3)
    throw Failure(kUsage, fmt::format("--size '{}': an array has two dimensions here, or three", text));
  int64_t elements = 1;
  for (const int64_t n : shape) {
    if (n > kMostElements / elements) throw Failure(kUsage, fmt::format("--size '{}': too large", text));
    elements *= n;
  }
  return shape;
}

std::vector<int> grid_of(const PlanOptions& options, int ranks, size_t dimensions) {
  if (options.grid.empty()) return methods::grid_for(ranks, dimensions);
  std::vector<int> grid = options.grid;
  int64_t parts = 1;
  for (const int n : grid) parts = std::min<int64_t>(parts * n, kMostRanks + 1);
  if (grid.size() > dimensions)
    throw Failure(kUsage, fmt::format("--grid {} has {} dimensions, an array of --size {}; give an array with as many "
                                      "dimensions, such as --size 256x256x256",
                                      fmt::join(grid, "x"), grid.size(), dimensions));
  if (parts != ranks)
    throw Failure(kUsage, fmt::format("--grid {} has {} parts, for {}; omit --ranks, or make them equal",
                                      fmt::join(grid, "x"), parts, count_text(ranks, "rank")));
  grid.resize(dimensions, 1);
  return grid;
}

// The block of a rank for weak scaling: half of each side, at least one element.
std::vector<int64_t> weak_shape(const std::vector<int64_t>& shape, const std::vector<int>& grid) {
  std::vector<int64_t> whole;
  int64_t elements = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t block = std::max<int64_t>(shape[d] / 2, 1);
    if (block > kMostElements / grid[d] / elements)
      throw Failure(
          kUsage,
          fmt::format(
              "--size {}: with {} blocks of half the side give too large an array; choose a smaller size, or --strong",
              fmt::join(shape, "x"), fmt::join(grid, "x")));
    whole.push_back(block * grid[d]);
    elements *= whole.back();
  }
  return whole;
}

void add_cell(RunPlan& plan, const Cell& cell) {
  plan.most_bytes = std::max(plan.most_bytes, cell.bytes());
  auto launch = std::ranges::find(plan.launches, cell.ranks, &LaunchPlan::ranks);
  if (launch == plan.launches.end())
    launch = plan.launches.insert(std::ranges::upper_bound(plan.launches, cell.ranks, {}, &LaunchPlan::ranks),
                                  {cell.ranks, {}});
  if (std::ranges::find(launch->cells, cell) == launch->cells.end()) launch->cells.push_back(cell);
}

void add_series(RunPlan& plan, const PlanOptions& options, const std::string& scaling,
                const std::vector<int64_t>& shape, const std::string& order) {
  PlannedSeries series{scaling, {}, {}};
  const bool weak = scaling == "weak";
  for (const int ranks : options.ranks) {
    const std::vector<int> grid = grid_of(options, ranks, shape.size());
    Cell cell{ranks, grid, weak ? weak_shape(shape, grid) : shape, order, options.cache};
    add_cell(plan, cell);
    series.cells.push_back(std::move(cell));
  }
  const std::vector<int64_t> named = weak ? weak_shape(shape, std::vector<int>(shape.size(), 1)) : shape;
  series.name = fmt::format("{}{}, {}", fmt::join(named, "x"), weak ? " each" : "", order);
  plan.series.push_back(std::move(series));
}

}  // namespace

std::vector<int> doubling_ranks(int most) {
  std::vector<int> ranks;
  for (int n = 1; n < most; n *= 2) ranks.push_back(n);
  ranks.push_back(most);
  return ranks;
}

std::vector<int> parse_ranks(const std::string& text) {
  std::vector<int> ranks;
  const bool ends_in_comma = text.size() > 1 && text.ends_with(',');  // "4,": a list of one
  for (const std::string& part : parts_of(ends_in_comma ? text.substr(0, text.size() - 1) : text, ','))
    ranks.push_back(static_cast<int>(number_of(part, kMostRanks, text, "--ranks")));
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

std::vector<int64_t> parse_extents(const std::string& text, const char* what) {
  std::vector<int64_t> extents;
  for (const std::string& part : parts_of(text, 'x')) extents.push_back(number_of(part, int64_t{1} << 40, text, what));
  return extents;
}

RunPlan make_plan(const PlanOptions& options) {
  RunPlan plan;
  const bool scales = options.ranks.size() > 1;
  for (const std::string& text : options.shapes) {
    const std::vector<int64_t> shape = shape_of(text);
    for (const std::string& order : options.orders) {
      if (!scales) add_series(plan, options, "none", shape, order);
      if (scales && options.strong) add_series(plan, options, "strong", shape, order);
      if (scales && options.weak) add_series(plan, options, "weak", shape, order);
    }
  }
  return plan;
}

std::string cell_argument(const Cell& cell) {
  return fmt::format("shape={},grid={},order={}", fmt::join(cell.shape, "x"), fmt::join(cell.grid, "x"), cell.order);
}

}  // namespace tool
