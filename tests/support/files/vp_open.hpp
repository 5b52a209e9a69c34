// Flags of the opening of a vpfile from letters of stdio.
#pragma once

#include <string_view>

#include "vpfile/vpfile.hpp"

namespace thalweg::test {

inline void open_as(VpOpen& how, std::string_view letters) {
  const bool plus = letters.find('+') != letters.npos;
  how.read = letters.starts_with('r') || plus;
  how.write = !letters.starts_with('r') || plus;
  how.create = !letters.starts_with('r');
  how.truncate = letters.starts_with('w');
  how.append = letters.starts_with('a');
}

}  // namespace thalweg::test
