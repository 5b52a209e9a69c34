// Detects storage that is slow to answer and has no profile: a file that several processes open is not written in
// small pieces there. Measured by a few small writes, once per process and file system.
#pragma once

#include <string>

#include "engine/shared_file.hpp"

namespace thalweg {

// Replaces the costs by the measured time of writes at `path` if that is far above one into the page cache; reads are
// taken to be as slow. Does nothing where there is a profile, or profiles are turned off. Threads: any.
void measure_writes(Backend& backend, const std::string& path, const StorageInfo& storage, Strategy& strategy);

}  // namespace thalweg
