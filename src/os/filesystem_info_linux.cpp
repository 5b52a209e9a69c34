#include "os/filesystem_info.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/checked_math.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

namespace {

// From statfs(2), linux/magic.h and the sources of file systems outside the kernel. FUSE counts as a network: most of
// its users are parallel file systems.
constexpr FilesystemKind kKinds[] = {
    {0x0000EF53, "ext4"},         {0x58465342, "xfs"},         {0x01021994, "tmpfs"},
    {0x9123683E, "btrfs"},        {0x2FC12FC1, "zfs"},         {0x794C7630, "overlay"},
    {0xF2F52010, "f2fs"},         {0x858458F6, "ramfs"},       {0x958458F6, "hugetlbfs"},
    {0x00004D44, "vfat"},         {0x2011BAB0, "exfat"},       {0xCA451A4E, "bcachefs"},
    {0x73717368, "squashfs"},     {0x5346544E, "ntfs"},        {0x6969, "nfs", true},
    {0x0BD00BD0, "lustre", true}, {0x47504653, "gpfs", true},  {0x19830326, "beegfs", true},
    {0x65735546, "fuse", true},   {0x00C36400, "ceph", true},  {0xFF534D42, "cifs", true},
    {0xFE534D42, "smb2", true},   {0x01021997, "9p", true},    {0x20030528, "orangefs", true},
    {0xAAD7AAEA, "panfs", true},  {0x7461636F, "ocfs2", true}, {0x01161970, "gfs2", true},
};

std::string hex(std::uint64_t number, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 15];
  return text;
}

// The file system's id from statfs, or else the number of its device, which may change with every mount.
std::string identity_of(const std::string& kind, const struct statfs& system, const struct stat& status) {
  const auto number = std::bit_cast<std::uint64_t>(system.f_fsid);
  if (number != 0) return kind + "-" + hex(number, 16);
  return fmt::format("{}-device-{}-{}", kind, major(status.st_dev), minor(status.st_dev));
}

std::uint64_t largest_file(const std::string& kind, std::uint64_t block_bytes) {
  constexpr std::uint64_t kBlocks32 = 0xFFFFFFFF;
  if (kind == "ext4") return kBlocks32 * block_bytes;  // block numbers within a file have 32 bits
  if (kind == "vfat") return kBlocks32;
  return kMostOffset;
}

// Newer kernels report the alignment of direct I/O; older headers lack the names. The layout of struct statx, 256
// bytes, is part of the kernel's interface, so the offsets below hold with any header.
std::uint32_t told_alignment(int folder_fd, const char* path, int flags) {
  constexpr unsigned kAskDirectIo = 0x2000;  // STATX_DIOALIGN
  constexpr std::size_t kMemoryAt = 152, kOffsetAt = 156;
  struct statx found = {};
  static_assert(sizeof found == 256);
  if (::statx(folder_fd, path, flags, kAskDirectIo, &found) != 0 || (found.stx_mask & kAskDirectIo) == 0) return 0;
  std::array<unsigned char, sizeof found> bytes;
  std::memcpy(bytes.data(), &found, sizeof found);
  std::uint32_t memory = 0, offset = 0;
  std::memcpy(&memory, bytes.data() + kMemoryAt, sizeof memory);
  std::memcpy(&offset, bytes.data() + kOffsetAt, sizeof offset);
  return memory == 0 || offset == 0 ? 0 : std::max(memory, offset);
}

StorageInfo info_from(const struct stat& status, const struct statfs& system) {
  StorageInfo info;
  // The block of I/O, not of allocation: on a parallel file system it is the stripe.
  const auto block = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(status.st_blksize), 512, 1u << 26);
  info.block_bytes = static_cast<std::uint32_t>(std::bit_ceil(block));
  const FilesystemKind kind = filesystem_kind(static_cast<std::uint32_t>(system.f_type));
  info.kind = kind.name != nullptr ? kind.name : "0x" + hex(kind.magic, 8);
  info.is_network = kind.network;
  info.identity = identity_of(info.kind, system, status);
  info.largest_file_bytes = largest_file(info.kind, static_cast<std::uint64_t>(system.f_bsize));
  std::uint64_t free = 0;
  const bool told = system.f_blocks > 0;  // ramfs and others report no sizes
  if (told && !mul_overflow(std::uint64_t{system.f_bavail}, static_cast<std::uint64_t>(system.f_frsize), &free))
    info.free_bytes = std::min(info.free_bytes, free);
  return info;
}

}  // namespace

FilesystemKind filesystem_kind(std::uint32_t magic) {
  const auto* known = std::ranges::find(kKinds, magic, &FilesystemKind::magic);
  return known != std::end(kKinds) ? *known : FilesystemKind{magic, nullptr};
}

std::uint32_t direct_io_alignment_of(const FileDescriptor& file) {
  return told_alignment(file.get(), "", AT_EMPTY_PATH);
}

// Kernels report it for regular files only: a nameless file stands in for one that does not exist yet.
std::uint32_t direct_io_alignment_at(const std::string& path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISREG(status.st_mode)) return told_alignment(AT_FDCWD, path.c_str(), 0);
  const std::string folder = exists && S_ISDIR(status.st_mode) ? path : folder_of(path);
  const FileDescriptor nameless(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return nameless.is_open() ? direct_io_alignment_of(nameless) : 0;
}

Result<StorageInfo> filesystem_info(const std::string& path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const std::string place = exists ? path : folder_of(path);
  struct statfs system;
  if ((!exists && ::stat(place.c_str(), &status) != 0) || ::statfs(place.c_str(), &system) != 0) {
    const int err = errno;
    if (err == ENOENT) return Status::failed_call(Code::not_found, err, fmt::format("there is no folder '{}'", place));
    return os_error(err, "cannot tell the file system of '{}'", place);
  }
  return info_from(status, system);
}

Result<StorageInfo> filesystem_info_of(int file, const std::string& path) {
  struct stat status;
  struct statfs system;
  if (::fstat(file, &status) == 0 && ::fstatfs(file, &system) == 0) return info_from(status, system);
  return os_error(errno, "cannot tell the file system of '{}'", path);
}

}  // namespace thalweg
