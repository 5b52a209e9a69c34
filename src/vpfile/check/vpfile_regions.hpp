// What is where in the data file of a vpfile: for people who look into it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "storage/backend.hpp"

namespace thalweg {

enum class VpRegionKind { nb = 1, cb = 2, header = 3, blocks = 4, unused = 5, table = 6, hole = 7 };

struct VpRegion {
  VpRegionKind kind = VpRegionKind::hole;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t superblock = -1;  // number; -1: in none
  std::int64_t first_vp = -1;    // whose it is: first_vp .. last_vp; -1: nobody's
  std::int64_t last_vp = -1;
};

// By offset, without gap or overlap, to the end of the data file; `visit` returns false to end. corrupt_file: NAME.meta
// is missing or damaged, or a superblock is not whole: then what lies before it was told.
Status walk_vp_regions(Backend& backend, const std::string& path, const std::function<bool(const VpRegion&)>& visit);

}  // namespace thalweg
