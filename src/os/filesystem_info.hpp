// Kind, identity and I/O sizes of the file system of a path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/size_units.hpp"
#include "base/status.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

struct StorageInfo {
  // Preferred block of I/O, a power of two from 512 to 2^26; divides a stripe that is told.
  std::uint32_t block_bytes = 4096;
  StripeLayout stripes = {};     // of the file, or of new files of the folder
  std::string kind = "unknown";  // "ext4", "fuse.sshfs", ...; or the magic number as "0x01234567"
  bool is_network = false;       // a known kind that many machines share, or FUSE
  bool is_coherent = true;       // a node sees at once what another one wrote; false where that is not known
  bool locks_reach_all = true;   // its record locks are known to exclude the programs of all nodes
  // Equal for all mounts of one file system, and different from all others: "ext4-0123456789abcdef"; "": unknown
  std::string identity;
  std::uint64_t largest_file_bytes = kMostOffset;
  std::uint64_t free_bytes = kMostOffset;  // for users without privileges; the default means unknown
};

struct FilesystemKind {
  std::uint32_t magic;
  const char* name;       // null: unknown
  bool network = false;   // many machines share it, or it is FUSE
  bool coherent = false;  // all machines are known to see at once what one of them wrote
};
// By the magic number of statfs(2).
FilesystemKind filesystem_kind(std::uint32_t magic);
// Whether record locks (fcntl) of a file system that nodes share are known to exclude the programs of all nodes, by its
// kind and the options of its mount, with commas between them.
bool locks_reach_all(std::string_view kind, std::string_view options);

// The file system of `path`, or of its folder when there is no such file yet.
Result<StorageInfo> filesystem_info(const std::string& path);
// The file system of an open file; `path` is for messages.
Result<StorageInfo> filesystem_info_of(int file, const std::string& path);
// Only kind, is_network and is_coherent of it, which take one system call where the file system is not FUSE. Defaults
// where the call fails.
StorageInfo caching_of(int file);

// Alignment that direct transfers of an open file need for memory, offset and length; 0: the file system has no
// direct I/O, or does not report it. tmpfs accepts O_DIRECT and ignores it.
std::uint32_t direct_io_alignment_of(const FileDescriptor& file);
// Where the kernel tells no alignment: whether a page of the usual alignment can be written and read past the page cache,
// at the begin of a file that was opened so.
inline constexpr std::uint32_t kUsualAlignment = 4096;
bool takes_direct_page(const FileDescriptor& file);
// Alignment for the file at `path`, or for a new one there: tried with a nameless file, which takes 50 us. Where the
// kernel tells none, a page is tried, once for each file system in this process.
std::uint32_t direct_io_alignment_at(const std::string& path);

}  // namespace thalweg
