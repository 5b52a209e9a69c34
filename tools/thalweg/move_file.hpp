// A finished file gets its name: in one step, and over another one only when asked to.
#pragma once

#include <string>

namespace tool {

// Renames in `directory` (AT_FDCWD for paths). With `replace` what is at `to` goes, without it that is EEXIST. False
// with errno on failure.
bool move_file(int directory, const std::string& from, const std::string& to, bool replace);

}  // namespace tool
