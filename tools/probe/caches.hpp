// Durability of files, and dropping their pages from the page cache.
#pragma once

#include <string>

#include "ranks.hpp"

namespace probe {

// Collective: makes every file of the folder, and the folders, durable; each rank syncs its share.
void sync_folder(const Ranks& ranks, const std::string& folder);

// Called by one process: drops the pages of all files of the folder on this node. Returns whether they are gone.
bool drop_pages(const std::string& folder);

// Whether the folder is on a memory file system: newer kernels accept O_DIRECT there, although all data is in the page
// cache.
bool lives_in_memory(const std::string& folder);

}  // namespace probe
