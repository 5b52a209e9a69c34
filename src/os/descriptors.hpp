// What the operating system tells of open files: how many there may be, and which file one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "os/file_descriptor.hpp"

namespace thalweg {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t names = 0;  // 0: it was removed
};
Result<FileIdentity> file_identity(const FileDescriptor& file, const std::string& path);

// Where the file is now, absolute: true after a rename and in another current folder. `opened_as` where nobody knows.
// A path that leads to the file even when its name is gone; needs /proc.
std::string link_to(const FileDescriptor& file);
std::string path_of(const FileDescriptor& file, const std::string& opened_as);

// Most descriptors that this process may have (ulimit -n).
std::size_t descriptor_limit();

}  // namespace thalweg
