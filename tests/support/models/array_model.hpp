// Parts of arrays with halos, by loops over indices: what tw_file_write_array() and tw_file_read_array() must do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "thalweg/file.h"

namespace thalweg::test {

struct ArrayCase {
  std::vector<std::int64_t> global;
  tw_array_order order = TW_ROW_MAJOR;
  std::size_t item_bytes = 1;
  std::int64_t offset = 0;

  std::int32_t n_dims() const { return static_cast<std::int32_t>(global.size()); }
  std::size_t file_bytes() const {
    std::size_t bytes = item_bytes;
    for (const std::int64_t n : global) bytes *= static_cast<std::size_t>(n);
    return static_cast<std::size_t>(offset) + bytes;
  }
};
using Part = std::vector<tw_dim>;

inline std::size_t memory_bytes(const ArrayCase& what, const Part& part) {
  std::size_t bytes = what.item_bytes;
  for (const tw_dim& dim : part) bytes *= static_cast<std::size_t>(dim.halo_before + dim.count + dim.halo_after);
  return bytes;
}
inline std::size_t part_bytes(const ArrayCase& what, const Part& part) {
  std::size_t bytes = what.item_bytes;
  for (const tw_dim& dim : part) bytes *= static_cast<std::size_t>(dim.count);
  return bytes;
}

// Calls visit(place in the file, place in the memory) for each item.
template <class Visit>
void for_each_item(const ArrayCase& what, const Part& part, Visit&& visit) {
  if (part_bytes(what, part) == 0) return;
  std::vector<std::int64_t> at(part.size());
  while (true) {
    std::int64_t in_file = 0, in_memory = 0;
    for (std::size_t k = 0; k < part.size(); ++k) {
      const std::size_t i = what.order == TW_ROW_MAJOR ? k : part.size() - 1 - k;
      const tw_dim& dim = part[i];
      in_file = in_file * dim.global + dim.start + at[i];
      in_memory = in_memory * (dim.halo_before + dim.count + dim.halo_after) + dim.halo_before + at[i];
    }
    visit(static_cast<std::size_t>(what.offset) + static_cast<std::size_t>(in_file) * what.item_bytes,
          static_cast<std::size_t>(in_memory) * what.item_bytes);
    std::size_t i = 0;
    while (i < part.size() && ++at[i] == part[i].count) at[i++] = 0;
    if (i == part.size()) return;
  }
}
inline void write_part(const ArrayCase& what, const Part& part, const std::string& memory, std::string& file) {
  for_each_item(what, part, [&](std::size_t in_file, std::size_t in_memory) {
    if (file.size() < in_file + what.item_bytes) file.resize(in_file + what.item_bytes, '\0');
    file.replace(in_file, what.item_bytes, memory, in_memory, what.item_bytes);
  });
}
inline void read_part(const ArrayCase& what, const Part& part, const std::string& file, std::string& memory) {
  for_each_item(what, part, [&](std::size_t in_file, std::size_t in_memory) {
    for (std::size_t b = 0; b < what.item_bytes && in_file + b < file.size(); ++b)
      memory[in_memory + b] = file[in_file + b];
  });
}

inline std::int64_t draw(std::mt19937& random, std::int64_t n) { return static_cast<std::int64_t>(random() % n); }

inline ArrayCase draw_array(std::mt19937& random, int n_dims) {
  ArrayCase what;
  const std::int64_t most[] = {40, 12, 7, 5};
  for (int i = 0; i < n_dims; ++i) what.global.push_back(1 + draw(random, most[n_dims - 1]));
  what.order = draw(random, 2) == 0 ? TW_ROW_MAJOR : TW_COLUMN_MAJOR;
  what.item_bytes = static_cast<std::size_t>(1 + draw(random, 8));
  what.offset = draw(random, 3) * 5;
  return what;
}

inline void draw_halo(std::mt19937& random, tw_dim& dim) {
  dim.halo_before = std::max<std::int64_t>(0, draw(random, 4) - 1);
  dim.halo_after = std::max<std::int64_t>(0, draw(random, 4) - 1);
}

// Disjoint parts that cover the array: a grid of tasks in two dimensions, cut at random places, so that parts are uneven
// and some are empty.
inline std::vector<Part> deal_array(std::mt19937& random, const ArrayCase& what, int tasks) {
  const auto dims = static_cast<std::int64_t>(what.global.size());
  const auto slow = static_cast<std::size_t>(draw(random, dims)), fast = static_cast<std::size_t>(draw(random, dims));
  const int columns = slow != fast && tasks % 2 == 0 ? 2 : 1;
  const auto cut = [&](std::size_t dimension, int parts) {
    std::vector<std::int64_t> borders = {0, what.global[dimension]};
    for (int i = 1; i < parts; ++i) borders.push_back(draw(random, what.global[dimension] + 1));
    std::sort(borders.begin(), borders.end());
    return borders;
  };
  const std::vector<std::int64_t> rows = cut(slow, tasks / columns), sides = cut(fast, columns);
  std::vector<Part> parts;
  for (int task = 0; task < tasks; ++task) {
    Part part;
    for (const std::int64_t n : what.global) part.push_back({n, 0, n, 0, 0});
    const auto row = static_cast<std::size_t>(task / columns), side = static_cast<std::size_t>(task % columns);
    if (columns > 1) part[fast].start = sides[side], part[fast].count = sides[side + 1] - sides[side];
    part[slow].start = rows[row], part[slow].count = rows[row + 1] - rows[row];
    for (tw_dim& dim : part) draw_halo(random, dim);
    parts.push_back(part);
  }
  return parts;
}

// Any block of the array, which may be empty; those of several tasks overlap.
inline Part draw_part(std::mt19937& random, const ArrayCase& what) {
  Part part;
  for (const std::int64_t n : what.global) {
    tw_dim dim{n, draw(random, n + 1), 0, 0, 0};
    dim.count = draw(random, 8) == 0 ? 0 : draw(random, n - dim.start + 1);
    draw_halo(random, dim);
    part.push_back(dim);
  }
  return part;
}

}  // namespace thalweg::test
