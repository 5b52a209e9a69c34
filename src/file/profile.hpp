// The profile that `thalweg tune` measured on a file system, as JSON under the XDG configuration directory. Without
// one, or with one that cannot be read, the defaults stand: a profile can only make things faster, never fail an open.
#pragma once

#include <string>

#include "engine/shared_file.hpp"

namespace thalweg {

// Puts what the profile of the file system that holds `path` says over `strategy`.
void apply_profile(const std::string& path, Strategy& strategy);

}  // namespace thalweg
