// The use of each byte range of each physical file, for `thalweg map`.
#pragma once

#include <functional>

#include "multifile/read/read_set.hpp"

namespace thalweg {

enum class RegionKind { header = 1, frame = 2, data = 3, tail = 4, hole = 5, index = 6 };

struct Region {
  RegionKind kind = RegionKind::hole;
  std::uint32_t physical = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t rank = -1;

  bool operator<(const Region& other) const { return offset < other.offset; }
};

// By physical file, then offset, without gap or overlap. `visit` returns false to end the walk.
Status walk_regions(ReadSet& files, const std::function<bool(const Region&)>& visit);

}  // namespace thalweg
