// thalweg info of a vpfile.
#pragma once

#include <string>

#include "text.hpp"

namespace tool {

// All facts in output order, the exit code last. `each`: include the size of each stream.
Json describe_vpfile(const std::string& path, bool each);
void print_vpfile(const Json& info);

}  // namespace tool
