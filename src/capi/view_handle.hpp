// What the opaque handle of view.h is.
#pragma once

#include <cstdint>

#include "access/view.hpp"
#include "thalweg/view.h"

namespace thalweg {

inline constexpr std::int32_t kMostDimensions = 1024;  // a larger number is taken for garbage

}  // namespace thalweg

struct tw_view {
  thalweg::View impl;
};
