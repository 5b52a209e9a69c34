// Random views, each with a naive model: the offset of every byte in a list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "access/view.hpp"

namespace thalweg::model {

// Draws a number below `limit`, which is above 0.
using Draw = std::function<std::uint64_t(std::uint64_t limit)>;

struct NaiveView {
  std::vector<std::uint64_t> offsets;  // by position
  std::uint64_t extent = 0;

  static NaiveView bytes(std::uint64_t n) {
    NaiveView made;
    made.extent = n;
    for (std::uint64_t i = 0; i < n; ++i) made.offsets.push_back(i);
    return made;
  }
  void add(const NaiveView& inner, std::uint64_t at) {
    for (const std::uint64_t offset : inner.offsets) offsets.push_back(at + offset);
  }
  bool rises() const {
    return std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) == offsets.end();
  }
  bool has_twice() const { return std::set(offsets.begin(), offsets.end()).size() < offsets.size(); }
  // The runs of the bytes from `position` on.
  std::vector<ViewRun> runs(std::uint64_t position, std::uint64_t n) const {
    std::vector<ViewRun> all;
    for (std::uint64_t i = position; i < position + n; ++i) {
      if (all.empty() || all.back().end() != offsets[i]) all.push_back({offsets[i], 0});
      ++all.back().bytes;
    }
    return all;
  }
};

struct BothViews {
  View view;
  NaiveView naive;
};

// A larger model is too slow; such a view is not nested further.
inline constexpr std::size_t kMostBytes = 3000;

inline BothViews strided(const BothViews& inner, const Draw& draw) {
  const std::uint64_t count = draw(6), block = draw(4), stride = draw(2 * block * inner.naive.extent + 20);
  BothViews both{View::strided(count, block, stride, inner.view).value(), {}};
  for (std::uint64_t i = 0; i < count * block; ++i)
    both.naive.add(inner.naive, i / block * stride + i % block * inner.naive.extent);
  if (count * block > 0) both.naive.extent = (count - 1) * stride + block * inner.naive.extent;
  return both;
}

inline BothViews indexed(const BothViews& inner, const Draw& draw) {
  std::vector<IndexedBlock> blocks(draw(5));
  const bool rising = draw(3) > 0;
  std::uint64_t at = draw(9);
  BothViews both;
  for (IndexedBlock& block : blocks) {
    block.count = draw(3);
    block.displacement = rising ? at : draw(40 + 4 * inner.naive.extent);
    at += block.count * inner.naive.extent + draw(3) * draw(9);
    for (std::uint64_t i = 0; i < block.count; ++i)
      both.naive.add(inner.naive, block.displacement + i * inner.naive.extent);
    if (block.count > 0)
      both.naive.extent = std::max(both.naive.extent, block.displacement + block.count * inner.naive.extent);
  }
  both.view = View::indexed(blocks, inner.view).value();
  return both;
}

// Blocks of `inner`, of a comb and of bytes, each of which may come several times, in any order.
inline BothViews structure(const BothViews& inner, const Draw& draw) {
  const std::uint64_t tooth = 1 + draw(3);
  const BothViews elements[] = {
      inner,
      {View::strided(3, tooth, 5, View::bytes(1).value()).value(), {{}, 10 + tooth}},
      {View::bytes(1).value(), NaiveView::bytes(1)},
      {View::bytes(tooth).value().resized(4).value(), {NaiveView::bytes(tooth).offsets, 4}},
  };
  NaiveView comb = elements[1].naive;
  for (std::uint64_t i = 0; i < 3; ++i) comb.add(NaiveView::bytes(tooth), 5 * i);
  std::vector<IndexedBlock> blocks(draw(8));
  std::vector<const View*> of;
  const bool rising = draw(3) > 0;
  std::uint64_t at = draw(9);
  BothViews both;
  for (IndexedBlock& block : blocks) {
    const std::uint64_t kind = draw(std::size(elements));
    const NaiveView& element = kind == 1 ? comb : elements[kind].naive;
    of.push_back(&elements[kind].view);
    block.count = draw(3);
    block.displacement = rising ? at : draw(40 + 4 * element.extent);
    at += block.count * element.extent + draw(3) * draw(9);
    for (std::uint64_t i = 0; i < block.count; ++i) both.naive.add(element, block.displacement + i * element.extent);
    if (block.count > 0)
      both.naive.extent = std::max(both.naive.extent, block.displacement + block.count * element.extent);
  }
  both.view = View::structure(blocks, of).value();
  return both;
}

// Calls `take` with the number of each element of an array, in the array's order, and the indices of that element.
template <class Take>
void for_each_element(const std::vector<std::uint64_t>& sizes, ArrayOrder order, Take&& take) {
  std::uint64_t all = 1;
  for (const std::uint64_t size : sizes) all *= size;
  std::vector<std::uint64_t> index(sizes.size());
  for (std::uint64_t number = 0; number < all; ++number) {
    std::uint64_t left = number;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      const std::size_t i = order == ArrayOrder::column_major ? n : sizes.size() - 1 - n;
      index[i] = left % sizes[i];
      left /= sizes[i];
    }
    take(number, index);
  }
}

inline BothViews subarray(const BothViews& inner, const Draw& draw) {
  const auto order = draw(2) == 0 ? ArrayOrder::row_major : ArrayOrder::column_major;
  std::vector<SubarrayDimension> dimensions(1 + draw(3));
  std::vector<std::uint64_t> sizes;
  for (SubarrayDimension& dimension : dimensions) {
    sizes.push_back(dimension.size = 1 + draw(5));
    dimension.part = draw(4) == 0 ? dimension.size : draw(dimension.size + 1);
    dimension.start = draw(dimension.size - dimension.part + 1);
  }
  BothViews both{View::subarray(dimensions, order, inner.view).value(), {}};
  for_each_element(sizes, order, [&](std::uint64_t number, const std::vector<std::uint64_t>& index) {
    bool mine = true;
    for (std::size_t i = 0; i < index.size(); ++i)
      mine = mine && index[i] >= dimensions[i].start && index[i] - dimensions[i].start < dimensions[i].part;
    if (mine) both.naive.add(inner.naive, number * inner.naive.extent);
    both.naive.extent += inner.naive.extent;
  });
  return both;
}

// The process of the grid that owns an index, as MPI_Type_create_darray defines it.
inline std::uint64_t owner(const DistributedDimension& of, std::uint64_t index) {
  if (of.distribution == Distribution::none) return 0;
  const std::uint64_t even = (of.size + of.parts - 1) / of.parts;
  const std::uint64_t block = of.block > 0 ? of.block : of.distribution == Distribution::block ? even : 1;
  return index / block % of.parts;
}

inline BothViews distributed(const BothViews& inner, const Draw& draw) {
  const auto order = draw(2) == 0 ? ArrayOrder::row_major : ArrayOrder::column_major;
  std::vector<DistributedDimension> dimensions(1 + draw(3));
  std::vector<std::uint64_t> sizes;
  std::uint64_t tasks = 1;
  for (DistributedDimension& dimension : dimensions) {
    sizes.push_back(dimension.size = 1 + draw(7));
    dimension.distribution = static_cast<Distribution>(draw(3));
    dimension.parts = dimension.distribution == Distribution::none ? 1 : 1 + draw(3);
    if (dimension.distribution == Distribution::cyclic) dimension.block = draw(4);
    if (dimension.distribution == Distribution::block && draw(3) == 0)
      dimension.block = (dimension.size + dimension.parts - 1) / dimension.parts + draw(2);
    tasks *= dimension.parts;
  }
  const std::uint64_t rank = draw(tasks);
  BothViews both{View::distributed(dimensions, rank, order, inner.view).value(), {}};
  for_each_element(sizes, order, [&](std::uint64_t number, const std::vector<std::uint64_t>& index) {
    std::uint64_t has = 0;
    for (std::size_t i = 0; i < index.size(); ++i) has = has * dimensions[i].parts + owner(dimensions[i], index[i]);
    if (has == rank) both.naive.add(inner.naive, number * inner.naive.extent);
    both.naive.extent += inner.naive.extent;
  });
  return both;
}

inline BothViews resized(const BothViews& inner, const Draw& draw) {
  const std::uint64_t extent = draw(2 * inner.naive.extent + 9);
  return {inner.view.resized(extent).value(), {inner.naive.offsets, extent}};
}

// Nests up to `depth` views.
inline BothViews draw_view(const Draw& draw, int depth) {
  const std::uint64_t n = 1 + draw(4);
  BothViews both{View::bytes(n).value(), NaiveView::bytes(n)};
  for (int i = 0; i < depth && both.naive.offsets.size() < kMostBytes; ++i) {
    constexpr BothViews (*kKinds[])(const BothViews&, const Draw&) = {strided,  indexed,     structure,
                                                                      subarray, distributed, resized};
    both = kKinds[draw(std::size(kKinds))](both, draw);
  }
  return both;
}

// Copies at displacements, some of which are listed explicitly.
inline BothViews repeated(const BothViews& one, const Draw& draw) {
  const std::uint64_t displacement = draw(100);
  BothViews both{one.view.repeated_from(displacement).value(), {}};
  for (std::uint64_t i = 0; i < 3; ++i) both.naive.add(one.naive, displacement + i * one.naive.extent);
  return both;
}

inline std::vector<ViewRun> runs_of(const View& view, std::uint64_t position, std::uint64_t bytes) {
  std::vector<ViewRun> runs;
  view.for_each_run(position, bytes, [&](ViewRun run) { runs.push_back(run); });
  return runs;
}

// Compares the first bytes of a view; returns "" or a description of the difference.
inline std::string difference(const View& view, const NaiveView& naive, const Draw& draw) {
  const std::uint64_t n = naive.offsets.size();
  for (std::uint64_t i = 0; i < n; ++i)
    if (view.locate(i) != naive.offsets[i]) return "position " + std::to_string(i) + " lies elsewhere";
  for (int i = 0; i < 4 && n > 0; ++i) {
    const std::uint64_t position = i == 0 ? 0 : draw(n);
    const std::uint64_t bytes = i == 0 ? n : draw(n - position + 1);
    const std::vector<ViewRun> expected = naive.runs(position, bytes);
    const std::uint64_t told = view.runs(position, bytes);
    if (told < expected.size() || told > bytes) return "it tells of " + std::to_string(told) + " runs";
    if (runs_of(view, position, bytes) != expected)
      return "the runs differ from position " + std::to_string(position) + " on";
  }
  return "";
}

// Compares the whole view.
inline std::string difference(const BothViews& both, const Draw& draw) {
  const auto& [view, naive] = both;
  if (view.size() != naive.offsets.size()) return "its size is " + std::to_string(view.size());
  if (view.extent() != naive.extent) return "its extent is " + std::to_string(view.extent());
  if ((view.order() == ViewOrder::in_order) != naive.rises()) return "its order is told wrong";
  if (view.order() == ViewOrder::overlapping && !naive.has_twice()) return "it does not overlap itself";
  const bool one_run = view.size() > 0 && view.runs(0, view.size()) == 1;
  if (one_run != (naive.runs(0, naive.offsets.size()).size() == 1)) return "one run is not told as one";
  if (naive.rises() && !naive.offsets.empty()) {
    const std::uint64_t offset = draw(naive.offsets.back() + 2);
    const auto below = std::lower_bound(naive.offsets.begin(), naive.offsets.end(), offset) - naive.offsets.begin();
    if (view.bytes_below(offset) != static_cast<std::uint64_t>(below)) return "other bytes are below an offset";
  }
  return difference(view, naive, draw);
}

// The extents of the bytes of `memory`, which begins at `data`, from `position` of `file` on.
inline std::vector<Extent> placed(const NaiveView& file, std::uint64_t position, const NaiveView& memory,
                                  std::byte* data) {
  std::vector<Extent> all;
  for (std::uint64_t i = 0; i < memory.offsets.size(); ++i) {
    std::byte* const at = data + memory.offsets[i];
    const std::uint64_t offset = file.offsets[position + i];
    if (all.empty() || all.back().end() != offset || all.back().memory + all.back().bytes != at)
      all.push_back({at, 0, offset});
    ++all.back().bytes;
  }
  return all;
}

// Places the bytes of one view through another one, which is repeated; returns "" or a description of the difference.
inline std::string placed_difference(const BothViews& file, const BothViews& memory, const Draw& draw) {
  const std::uint64_t bytes = memory.naive.offsets.size();
  if (file.naive.offsets.empty()) return "";
  const std::uint64_t displacement = draw(100), position = draw(2 * file.naive.offsets.size());
  const View repeated = file.view.repeated_from(displacement).value();
  NaiveView naive;
  for (std::uint64_t i = 0; naive.offsets.size() < position + bytes; ++i)
    naive.add(file.naive, displacement + i * file.naive.extent);
  std::uint64_t end = 1;
  for (const std::uint64_t offset : memory.naive.offsets) end = std::max(end, offset + 1);
  std::vector<std::byte> data(end);
  std::vector<Extent> found;
  if (!place_memory(repeated, position, memory.view, data.data(), found).ok()) return "it is not placed";
  return found == placed(naive, position, memory.naive, data.data()) ? "" : "its extents differ";
}

}  // namespace thalweg::model
