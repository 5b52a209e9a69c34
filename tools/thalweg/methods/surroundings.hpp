// The machine and the storage of a run, as its record tells them.
#pragma once

#include <string>

#include "text.hpp"

namespace tool {

int cores();  // of this machine, as far as this process may use them; at least 1
Json machine_facts();
// Throws Failure: there is no such folder.
Json storage_facts(const std::string& folder);
std::string command_line();  // of this process, as words of a shell
std::string utc_now();       // "2026-11-21T18:16:27Z"

}  // namespace tool
