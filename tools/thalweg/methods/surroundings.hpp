// The machine and the storage of a run, for its record.
#pragma once

#include <string>

#include "text.hpp"

namespace tool {

int cores();  // of this machine, available to this process; at least 1
Json machine_facts();
// Throws Failure when the folder is missing.
Json storage_facts(const std::string& folder);
std::string command_line();  // of this process, as shell words
std::string utc_now();       // "2026-11-21T18:16:27Z"

}  // namespace tool
