// Numbers of files that anybody may have written: what makes no sense is as if it were missing.
#pragma once

#include "text.hpp"

namespace tool {

// The member `name`; `otherwise` where there is none, or one that is no number or not within the bounds.
double number_of(const Json& json, const char* name, double otherwise, double least = 0, double most = 1e15);

}  // namespace tool
