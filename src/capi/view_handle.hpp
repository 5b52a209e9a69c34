// What the opaque handle of view.h is.
#pragma once

#include "access/view.hpp"
#include "thalweg/view.h"

struct tw_view {
  thalweg::View impl;
};
