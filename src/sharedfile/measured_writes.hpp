// Storage that is slow to answer, and of which no profile tells: a file that several processes open is not written
// piece by piece there. Tried out with a few small writes, once per process and file system.
#pragma once

#include <string>

#include "engine/shared_file.hpp"

namespace thalweg {

// Puts over the costs what a write takes where `path` lies, if that is far more than one into the page cache; reads are
// taken to be as slow. Does nothing where there is a profile, or profiles are turned off. Threads: any.
void measure_writes(Backend& backend, const std::string& path, const StorageInfo& storage, Strategy& strategy);

}  // namespace thalweg
