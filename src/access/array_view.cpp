// Views of parts of arrays. Starting with the dimension whose index changes fastest, each dimension repeats the part
// within it at its own distances.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "access/view_node.hpp"

namespace thalweg {

namespace {

Status bad(std::size_t dimension, const std::string& what) {
  return Status::error(Code::invalid_argument, "dimension {} {}", dimension, what);
}

Status array_too_large() {
  return Status::error(Code::out_of_range, "an array of more than 2^63-1 bytes; offsets and sizes are below 2^63");
}

// Moves a node; fails with out_of_range. A copy may reach beyond its extent, so the array does not bound its span.
Result<PlacedNode> moved(PlacedNode placed, std::uint64_t by) {
  if (placed.node == nullptr) return placed;
  if (by > View::kMost - placed.shift - placed.node->span) return array_too_large();
  placed.shift += by;
  return placed;
}

Status check(std::size_t dimension, const SubarrayDimension& what) {
  if (what.part <= what.size && what.start <= what.size - what.part) return {};
  return bad(dimension, fmt::format("of {} has no part of {} from {} on", what.size, what.part, what.start));
}

// The indices of one dimension that a task has: `full` blocks, then one of `rest`.
struct Deal {
  std::uint64_t size = 0;  // of the whole dimension
  std::uint64_t start = 0;
  std::uint64_t block = 0;
  std::uint64_t cycle = 0;  // distance between blocks
  std::uint64_t full = 0;
  std::uint64_t rest = 0;
};

std::uint64_t block_of(const DistributedDimension& what) {
  if (what.distribution == Distribution::none) return what.size;
  if (what.block > 0) return std::min(what.block, what.size);
  if (what.distribution == Distribution::cyclic) return std::min<std::uint64_t>(1, what.size);
  return what.size / what.parts + (what.size % what.parts != 0 ? 1 : 0);
}

Deal deal(const DistributedDimension& what, std::uint64_t coordinate) {
  Deal mine{.size = what.size};
  mine.block = block_of(what);
  if (mine.block == 0 || mul_overflow(coordinate, mine.block, &mine.start) || mine.start >= what.size) return mine;
  if (mul_overflow(what.parts, mine.block, &mine.cycle)) mine.cycle = View::kMost;
  const std::uint64_t left = what.size - mine.start;
  mine.full = left >= mine.block ? (left - mine.block) / mine.cycle + 1 : 0;
  const std::uint64_t dealt = mine.full == 0 ? 0 : (mine.full - 1) * mine.cycle + mine.block;
  // The partial block begins one cycle after the begin of the last full one, if the array reaches so far.
  const std::uint64_t skip = mine.full == 0 ? 0 : mine.cycle - mine.block;
  mine.rest = left - dealt > skip ? std::min(left - dealt - skip, mine.block) : 0;
  return mine;
}

Result<PlacedNode> dealt(const Deal& mine, std::uint64_t unit, const PlacedNode& inner) {
  PlacedNode blocks;
  if (mine.full > 0) {
    TW_ASSIGN_OR_RETURN(const PlacedNode block, repeat_node(mine.block, unit, inner));
    TW_ASSIGN_OR_RETURN(blocks, repeat_node(mine.full, mine.cycle * unit, block));
  }
  TW_ASSIGN_OR_RETURN(PlacedNode rest, repeat_node(mine.rest, unit, inner));
  TW_ASSIGN_OR_RETURN(rest, moved(std::move(rest), mine.full * mine.cycle * unit));
  TW_ASSIGN_OR_RETURN(PlacedNode both, pair_node(blocks, rest));
  return moved(std::move(both), mine.start * unit);
}

// The part of an array with these indices, whose elements are `inner`. `unit`: bytes between neighbouring elements;
// becomes the size of the array.
Result<PlacedNode> place_array(std::span<const Deal> dimensions, ArrayOrder order, PlacedNode inner,
                               std::uint64_t& unit) {
  if (dimensions.empty()) return Status::error(Code::invalid_argument, "an array has 1 dimension or more; given are 0");
  for (std::size_t n = 0; n < dimensions.size(); ++n) {
    const Deal& mine = dimensions[order == ArrayOrder::column_major ? n : dimensions.size() - 1 - n];
    std::uint64_t whole = 0;
    if (no_product(unit, mine.size, &whole)) return array_too_large();
    TW_ASSIGN_OR_RETURN(inner, dealt(mine, unit, inner));
    unit = whole;
  }
  return inner;
}

Status check(std::size_t dimension, const DistributedDimension& what) {
  if (what.parts == 0) return bad(dimension, "is dealt to 0 parts of the grid; 1 or more");
  if (what.distribution == Distribution::none && what.parts != 1)
    return bad(dimension, fmt::format("is not distributed, but has {} parts of the grid; 1", what.parts));
  if (what.distribution == Distribution::block && what.block > 0 && what.size / what.parts >= what.block &&
      what.size > what.block * what.parts)
    return bad(dimension,
               fmt::format("has {} indices, more than {} blocks of {}; 0 stands for blocks that are large enough",
                           what.size, what.parts, what.block));
  return {};
}

}  // namespace

Result<View> View::subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order, const View& inner) {
  std::vector<Deal> parts;
  for (const SubarrayDimension& what : dimensions) {
    TW_RETURN_IF_ERROR(check(parts.size(), what));
    parts.push_back({.size = what.size, .start = what.start, .block = what.part, .full = 1});
  }
  std::uint64_t extent = inner.extent_;
  TW_ASSIGN_OR_RETURN(PlacedNode placed, place_array(parts, order, inner.placed_, extent));
  return View(std::move(placed), extent);
}

Result<View> View::distributed(std::span<const DistributedDimension> dimensions, std::uint64_t rank, ArrayOrder order,
                               const View& inner) {
  std::vector<Deal> parts(dimensions.size());
  std::uint64_t left = rank;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    TW_RETURN_IF_ERROR(check(i, dimensions[i]));
    parts[i] = deal(dimensions[i], left % dimensions[i].parts);
    left /= dimensions[i].parts;
  }
  if (left > 0 && !dimensions.empty())
    return Status::error(Code::invalid_argument, "the grid has no task {}: its parts are fewer", rank);
  std::uint64_t extent = inner.extent_;
  TW_ASSIGN_OR_RETURN(PlacedNode placed, place_array(parts, order, inner.placed_, extent));
  return View(std::move(placed), extent);
}

}  // namespace thalweg
