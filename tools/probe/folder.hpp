// A folder with the files of a method: its storage, how it is made durable and leaves the page cache, what lies in it, and
// whether its files are open with direct I/O. Without MPI.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace probe {

// A method failed: the message names file, call and reason. The program then ends all ranks (MPI_Abort).
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws Failed with the text of errno: "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_errno(const std::string& action, const std::string& path);

// Prints a `storage` record: path, kind, identity, free bytes, and the path of the profile ("" where profiles are turned
// off). Throws std::runtime_error where there is no such folder.
void describe_storage(const std::string& folder);

// Makes durable every `size`-th file or folder below the folder, itself included, beginning with number `rank`.
void sync_folder(const std::string& folder, int rank, int size);
// Drops the pages of all files below the folder on this node. Returns whether they are gone.
bool drop_pages(const std::string& folder);

// Whether files there can be opened with direct I/O that goes past the page cache.
bool has_direct(const std::string& folder);
// Whether any library of this process has a file below the folder open with O_DIRECT, as reported by the system.
bool opened_direct(const std::string& folder);

struct FolderFacts {
  std::int64_t files = 0, folders = 0;  // below the folder
  std::int64_t file_bytes = 0, stored_bytes = 0;
};
FolderFacts folder_facts(const std::string& folder);

}  // namespace probe
