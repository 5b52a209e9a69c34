// Example code: real programs (advise/skeletons/), embedded by CMake and compiled by the tests. All of them write.
#pragma once

#include <string>
#include <string_view>

namespace tool {

struct Skeleton {
  std::string_view name;  // of the file
  std::string text;
  std::string remark;  // empty, or why it shows another method, and how to read
};

// For a method in "c", "fortran" or "python", and a phase of the model.
Skeleton skeleton_of(std::string_view method, std::string_view language, std::string_view phase);

}  // namespace tool
