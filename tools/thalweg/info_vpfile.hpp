// thalweg info of a vpfile.
#pragma once

#include <string>

#include "command.hpp"

namespace tool {

// `each`: include the size of each stream. Returns the exit code.
int info_of_vpfile(const std::string& path, bool each, const Common& common);

}  // namespace tool
