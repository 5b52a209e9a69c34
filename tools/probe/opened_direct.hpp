// Whether any library of this process has a file open with O_DIRECT, as reported by the system.
#pragma once

#include <string>

namespace probe {

bool opened_direct(const std::string& path);

}  // namespace probe
