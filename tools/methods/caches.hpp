// What is between the ranks and the storage: making files durable, and pages of files go away.
#pragma once

#include <string>

#include "ranks.hpp"

namespace methods {

// Collective: every file of the folder, and the folders, are on the storage afterwards; each rank syncs its share.
void sync_folder(const Ranks& ranks, const std::string& folder);

// By one process: drops the pages of all files of the folder on this node. Returns whether they are gone.
bool drop_pages(const std::string& folder);

// Whether the folder's file system is memory itself: newer kernels let files there be opened past a page cache that is
// all there is.
bool lives_in_memory(const std::string& folder);

}  // namespace methods
