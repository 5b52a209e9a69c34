// What the opaque handle of vpfile.h is.
#pragma once

#include <memory>
#include <vector>

#include "thalweg/vpfile.h"
#include "vpfile/vpfile.hpp"

struct tw_vpfile {
  std::unique_ptr<thalweg::VpFile> impl;  // never null
  std::vector<std::int64_t> shape, start, count;
  std::uint64_t n_vps = 0;  // of the shape
};

namespace thalweg {

// The local number of a VP of this task.
Result<std::uint64_t> local_of(tw_vpfile& vpfile, std::int64_t vp);

}  // namespace thalweg
