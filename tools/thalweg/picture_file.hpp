// A picture or page as a file: what of the same name may be replaced, and replacing it in one step.
#pragma once

#include <string>
#include <vector>

namespace tool {

// Whether `path` may be replaced: a picture with "<!-- made by thalweg COMMAND -->" in its first 256 bytes,
// or records of `thalweg methods`, always, another file with `force`. Throws Failure (unsafe) when what is
// there must stay: no regular file, or one of `kept`, under whatever name; `of_what` they are is told.
bool may_replace_picture(const std::string& path, bool force, const std::vector<std::string>& kept,
                         const char* of_what);

// The old picture stays until the new one is complete. Throws Failure.
void write_picture(const std::string& path, const std::string& text, bool replace);

}  // namespace tool
