// What the file system under a path is, and which sizes it works in.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

struct FilesystemInfo {
  std::uint32_t block_bytes = 4096;  // preferred block of I/O, a power of two from 512 to 2^26
  std::string kind = "unknown";      // "ext4", "tmpfs", ...; or the magic number as "0x01234567"
  std::string identity;              // kind and number of this very file system: "ext4-0123456789abcdef"
  std::uint64_t largest_file_bytes = (std::uint64_t{1} << 63) - 1;
  std::uint64_t free_bytes = (std::uint64_t{1} << 63) - 1;  // for users without privileges; the default where untold
};

// Of `path`, or of its folder when there is no such file yet.
Result<FilesystemInfo> filesystem_info(const std::string& path);
// Of an open file; `path` is for messages.
Result<FilesystemInfo> filesystem_info_of(int file, const std::string& path);

// Of memory, offset and length of direct transfers of an open file; 0: the file system has no direct I/O, or does not
// tell. tmpfs takes O_DIRECT and does not care.
std::uint32_t direct_io_alignment_of(const FileDescriptor& file);
// Of the file at `path`, or of one that could be made there: that is tried with a nameless one, which takes 50 us.
std::uint32_t direct_io_alignment_at(const std::string& path);

}  // namespace thalweg
