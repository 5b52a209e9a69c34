// What the opaque handle of view.h is.
#pragma once

#include "thalweg/view.h"
#include "view/view.hpp"

struct tw_view {
  thalweg::View impl;
};
