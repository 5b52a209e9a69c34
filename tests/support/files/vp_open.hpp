// Flags of the opening of a vpfile from letters of stdio.
#pragma once

#include <string_view>

#include "vpfile/vpfile.hpp"

namespace thalweg::test {

inline void open_as(VpOpen& how, std::string_view letters) {
  const bool plus = letters.find('+') != letters.npos;
  how.options.read = letters.starts_with('r') || plus;
  how.options.write = !letters.starts_with('r') || plus;
  how.options.create = !letters.starts_with('r');
  how.options.truncate = letters.starts_with('w');
  how.append = letters.starts_with('a');
}

}  // namespace thalweg::test
