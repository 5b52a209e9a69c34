// The storage below a folder, for the record of a run. Without MPI.
#pragma once

#include <string>

namespace probe {

// Prints a `storage` record: path, kind, identity, free bytes, and the path of the profile ("" where profiles are turned
// off). Throws std::runtime_error where there is no such folder.
void describe_storage(const std::string& folder);

}  // namespace probe
