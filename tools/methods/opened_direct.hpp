// Whether some library of this process has a file open past the page cache: asked of the system, not of the library.
#pragma once

#include <string>

namespace methods {

bool opened_direct(const std::string& path);

}  // namespace methods
