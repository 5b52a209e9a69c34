// A folder with the files of a method: how it is made durable and leaves the page cache.
#pragma once

#include <cstdint>
#include <string>

namespace probe {

// Makes durable every `size`-th file or folder below the folder, itself included, beginning with number `rank`.
void sync_folder(const std::string& folder, int rank, int size);
// Bytes of a block of the file system (a stripe, where it is reported), at least 4096.
std::int64_t block_bytes(const std::string& folder);
// Drops the pages of all files below the folder on this node. Returns whether they are gone.
bool drop_pages(const std::string& folder);

}  // namespace probe
