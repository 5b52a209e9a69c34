// Numbers of untrusted files: an invalid number counts as missing.
#pragma once

#include "text.hpp"

namespace tool {

// The member `name`; `otherwise` when it is missing, no number, or out of bounds.
double number_of(const Json& json, const char* name, double otherwise, double least = 0, double most = 1e15);

}  // namespace tool
