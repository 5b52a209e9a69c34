#include "methods/series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace tool {
namespace {

constexpr double kSameLoad = 0.05;  // shapes are rounded to whole elements, and to the grid

// Cells that differ only in the grid belong to several curves: the first grid of each, the second one, ...
std::map<Cell, size_t> variants_of(const std::vector<Cell>& cells) {
  std::map<Cell, size_t> seen, variants;
  for (const Cell& cell : cells) {
    Cell any_grid = cell;
    any_grid.grid.clear();
    variants[cell] = seen[any_grid]++;
  }
  return variants;
}

std::string shape_text(const Cell& cell) { return fmt::format("{}", fmt::join(cell.shape, "x")); }

bool differ_in_ranks(const std::vector<Cell>& cells) {
  return std::ranges::any_of(cells, [&](const Cell& cell) { return cell.ranks != cells.front().ranks; });
}

bool differ_in_shape(const std::vector<Cell>& cells) {
  return std::ranges::any_of(cells, [&](const Cell& cell) { return cell.shape != cells.front().shape; });
}

std::string grid_text(const std::vector<Cell>& cells, size_t variant) {
  return variant == 0 ? std::string() : fmt::format(", grid {}", fmt::join(cells.back().grid, "x"));
}

void add_strong(std::vector<Series>& all, const std::vector<Cell>& cells) {
  const auto variants = variants_of(cells);
  std::map<std::tuple<std::vector<int64_t>, std::string, std::string, size_t>, std::vector<Cell>> found;
  for (const Cell& cell : cells) found[{cell.shape, cell.order, cell.cache, variants.at(cell)}].push_back(cell);
  for (const auto& [key, members] : found) {
    if (!differ_in_ranks(members)) continue;
    const Cell& first = members.front();
    all.push_back({Scaling::strong,
                   fmt::format("{} ({}), order {}, cache {}{}", shape_text(first), short_size(first.bytes()),
                               first.order, first.cache, grid_text(members, std::get<3>(key))),
                   members});
  }
}

double load_of(const Cell& cell) { return static_cast<double>(cell.bytes()) / cell.ranks; }

void add_weak(std::vector<Series>& all, const std::vector<Cell>& cells) {
  const auto variants = variants_of(cells);
  std::vector<std::pair<Cell, std::vector<Cell>>> found;  // the first one, and all
  for (const Cell& cell : cells) {
    const auto same = std::ranges::find_if(found, [&](const auto& other) {
      const Cell& first = other.first;
      return first.shape.size() == cell.shape.size() && first.order == cell.order && first.cache == cell.cache &&
             variants.at(first) == variants.at(cell) &&
             std::abs(load_of(cell) - load_of(first)) <= kSameLoad * load_of(first) &&
             other.second.back().ranks != cell.ranks;
    });
    if (same == found.end()) {
      found.push_back({cell, {cell}});
    } else {
      same->second.push_back(cell);
    }
  }
  for (const auto& [first, members] : found) {
    if (!differ_in_ranks(members) || !differ_in_shape(members)) continue;
    all.push_back(
        {Scaling::weak,
         fmt::format("{} a rank, {}-D, order {}, cache {}{}", short_size(static_cast<int64_t>(load_of(first))),
                     first.shape.size(), first.order, first.cache, grid_text(members, variants.at(first))),
         members});
  }
}

void add_sizes(std::vector<Series>& all, const std::vector<Cell>& cells) {
  std::map<std::tuple<int, size_t, std::vector<int>, std::string, std::string>, std::vector<Cell>> found;
  for (const Cell& cell : cells)
    found[{cell.ranks, cell.shape.size(), cell.grid, cell.order, cell.cache}].push_back(cell);
  for (auto& [key, members] : found) {
    std::ranges::stable_sort(members, {}, &Cell::bytes);
    if (members.front().bytes() == members.back().bytes()) continue;
    const Cell& first = members.front();
    all.push_back({Scaling::size,
                   fmt::format("{} as {}, order {}, cache {}", count_text(first.ranks, "rank"),
                               fmt::join(first.grid, "x"), first.order, first.cache),
                   members});
  }
}

}  // namespace

const char* scaling_name(Scaling scaling) {
  switch (scaling) {
    case Scaling::strong:
      return "strong";
    case Scaling::weak:
      return "weak";
    default:
      return "size";
  }
}

std::vector<Cell> cells_of(const Results& results) {
  std::set<Cell> cells;
  for (const TimeRecord& time : results.times) cells.insert(time.cell);
  return {cells.begin(), cells.end()};
}

std::vector<Series> series_of(const Results& results) {
  const std::vector<Cell> cells = cells_of(results);
  std::string asked;
  if (const auto found = results.run.find("scaling"); found != results.run.end() && found->is_string())
    asked = found->get<std::string>();
  const bool strong = asked.find("strong") != std::string::npos, weak = asked.find("weak") != std::string::npos;
  std::vector<Series> all;
  if (strong || !weak) add_strong(all, cells);
  if (weak || !strong) add_weak(all, cells);
  if (all.empty()) add_sizes(all, cells);
  return all;
}

bool is_contiguous(const Cell& cell) {
  // From the slowest dimension on: after one with more than one index in the block, no later one may be cut.
  const size_t n = cell.shape.size();
  bool within = false;
  for (size_t i = 0; i < n; ++i) {
    const size_t dimension = cell.order == "f" ? n - 1 - i : i;
    const int parts = dimension < cell.grid.size() ? cell.grid[dimension] : 1;
    if (within && parts > 1) return false;
    if (cell.shape[dimension] > parts) within = true;
  }
  return true;
}

}  // namespace tool
