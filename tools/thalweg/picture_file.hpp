// Writes a picture or page: which existing files may be replaced, and atomic replacement.
#pragma once

#include <string>
#include <vector>

namespace tool {

// Whether `path` may be replaced: always for a picture with "<!-- made by thalweg COMMAND -->" in its first 256 bytes
// and for records of `thalweg methods`, another file with `force`. Throws Failure (unsafe) for a file that must stay:
// not regular, or one of `kept` under any name; the message calls these `of_what`.
bool may_replace_picture(const std::string& path, bool force, const std::vector<std::string>& kept,
                         const char* of_what);

// The old picture stays until the new one is complete. Throws Failure.
void write_picture(const std::string& path, const std::string& text, bool replace);

}  // namespace tool
