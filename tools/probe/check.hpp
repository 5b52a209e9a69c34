// `thalweg check`: tries what a mount can do, on the nodes of a group, and keeps the answer in the profile
// (docs/howto/check.md). Without MPI.
#pragma once

#include <thalweg/base.hpp>

#include <string>
#include <string_view>

namespace probe {

// Collective. `flags`: letters of j (print JSON), q (quiet), t (trust the mount where nothing speaks against it). Returns
// the exit status, equal on all tasks: 0 all is right or handled, 1 something is refused or left to the user, 3 something
// could not be tried.
int check_mount(const thalweg::Group& group, const std::string& folder, std::string_view flags);

}  // namespace probe
