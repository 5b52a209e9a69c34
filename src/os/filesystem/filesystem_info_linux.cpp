#include "os/filesystem_info.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/checked_math.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

namespace {

constexpr std::uint32_t kFuse = 0x65735546;

// From statfs(2), linux/magic.h and the sources of file systems outside the kernel. FUSE counts as a network: most of
// its users are parallel file systems.
constexpr FilesystemKind kKinds[] = {
    {0x0000EF53, "ext4"},         {0x58465342, "xfs"},         {0x01021994, "tmpfs"},
    {0x9123683E, "btrfs"},        {0x2FC12FC1, "zfs"},         {0x794C7630, "overlay"},
    {0xF2F52010, "f2fs"},         {0x858458F6, "ramfs"},       {0x958458F6, "hugetlbfs"},
    {0x00004D44, "vfat"},         {0x2011BAB0, "exfat"},       {0xCA451A4E, "bcachefs"},
    {0x73717368, "squashfs"},     {0x5346544E, "ntfs"},        {0x6969, "nfs", true},
    {0x0BD00BD0, "lustre", true}, {0x47504653, "gpfs", true},  {0x19830326, "beegfs", true},
    {kFuse, "fuse", true},        {0x00C36400, "ceph", true},  {0xFF534D42, "cifs", true},
    {0xFE534D42, "smb2", true},   {0x01021997, "9p", true},    {0x20030528, "orangefs", true},
    {0xAAD7AAEA, "panfs", true},  {0x7461636F, "ocfs2", true}, {0x01161970, "gfs2", true},
};
// Those whose servers call back what a client has cached.
constexpr std::string_view kCoherent[] = {"lustre", "gpfs", "ceph", "ocfs2", "gfs2"};

// Type, source and options of a mount; "": not found. A line of /proc/self/mountinfo: "36 35 98:0 /mnt1 /mnt2 rw,noatime
// master:1 - ext3 /dev/root rw,errors=continue".
std::array<std::string, 3> mount_of(dev_t device) {
  const std::string wanted = fmt::format("{}:{}", major(device), minor(device));
  std::array<std::string, 3> found;
  std::istringstream lines(proc_text("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, its_device, word;
    words >> id >> parent >> its_device;
    if (its_device != wanted) continue;
    while (words >> word && word != "-") {
    }
    words >> found[0] >> found[1] >> found[2];
  }
  return found;
}

// The UUID that the file system of the file or folder carries, as a hexadecimal number; "": the kernel, before 6.9, or
// the kind tells none. `file`: open, or -1. Closing a descriptor of a file ends all locks of this process on it
// (fcntl(2)), so that its folder is asked then.
std::string uuid_of(int file, const std::string& path, const struct stat& status) {
  using Uuid = std::array<unsigned char, 17>;              // a length, and so many bytes
  constexpr unsigned long kAskUuid = _IOR(0x15, 0, Uuid);  // FS_IOC_GETFSUUID of linux/fs.h
  Uuid found = {};
  FileDescriptor folder;
  if (file < 0) {
    const std::string name = S_ISDIR(status.st_mode) ? path : folder_of(path);
    folder = FileDescriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    file = folder.get();
    struct stat beside;
    if (::fstat(file, &beside) != 0 || beside.st_dev != status.st_dev) return {};
  }
  if (::ioctl(file, kAskUuid, &found) != 0 || found[0] >= found.size()) return {};
  std::string text;
  for (const unsigned char byte : std::span(found).subspan(1, found[0])) text += fmt::format("{:02x}", byte);
  return text;
}

// A file system of servers is identified by their name for it, which all mounts have in common. Any other by the id of
// statfs, unless that is the number of the device, which may be another one after the next mount: then by the UUID,
// where there is one.
std::string identity_of(const StorageInfo& info, const std::string& source, const struct statfs& system,
                        const struct stat& status, int file, const std::string& path) {
  const bool has_servers = source.find(':') != std::string::npos || source.starts_with("//");
  if (info.is_network && has_servers) return info.kind + "-" + source;
  const auto number = std::bit_cast<std::uint64_t>(system.f_fsid);
  if (number != 0 && number != status.st_dev) return fmt::format("{}-{:016x}", info.kind, number);
  if (const std::string uuid = uuid_of(file, path, status); !uuid.empty()) return info.kind + "-" + uuid;
  return fmt::format("{}-device-{}-{}", info.kind, major(status.st_dev), minor(status.st_dev));
}

std::uint64_t largest_file(const std::string& kind, std::uint64_t block_bytes) {
  constexpr std::uint64_t kBlocks32 = 0xFFFFFFFF;
  if (kind == "ext4") return kBlocks32 * block_bytes;  // block numbers within a file have 32 bits
  if (kind == "vfat") return kBlocks32;
  return kMostOffset;
}

// A stripe of Lustre is a multiple of 64 KiB, not always a power of two.
void set_stripes(StorageInfo& info, StripeLayout stripes) {
  if (stripes.bytes == 0) return;
  const std::uint64_t power = stripes.bytes & (~stripes.bytes + 1);
  info.block_bytes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(power, 512, 1U << 26));
  info.stripes = std::move(stripes);
}

// `type`: of the mount; "": not known.
StorageInfo caching_from(const struct statfs& system, const std::string& type) {
  StorageInfo info;
  const FilesystemKind kind = filesystem_kind(static_cast<std::uint32_t>(system.f_type));
  info.kind = kind.name != nullptr ? kind.name : fmt::format("0x{:08x}", kind.magic);
  if (kind.magic == kFuse && !type.empty()) info.kind = type;
  const bool is_disk = info.kind == "fuseblk";  // FUSE on a disk of this machine
  info.is_network = kind.network && !is_disk;
  info.is_coherent = is_disk || kind.coherent;
  return info;
}

StorageInfo info_from(const struct stat& status, const struct statfs& system, int file, const std::string& path) {
  const bool is_shared = filesystem_kind(static_cast<std::uint32_t>(system.f_type)).network;
  const auto [type, source, options] = is_shared ? mount_of(status.st_dev) : std::array<std::string, 3>{};
  StorageInfo info = caching_from(system, type);
  // The block of I/O, not of allocation: on a parallel file system it is the stripe.
  const auto block = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(status.st_blksize), 512, 1u << 26);
  info.block_bytes = static_cast<std::uint32_t>(std::bit_ceil(block));
  if (info.kind == "gpfs") info.stripes.bytes = info.block_bytes;  // it tells no targets
  info.locks_reach_all = info.is_network ? locks_reach_all(info.kind, options) : info.is_coherent;
  info.identity = identity_of(info, source, system, status, file, path);
  info.largest_file_bytes = largest_file(info.kind, static_cast<std::uint64_t>(system.f_bsize));
  std::uint64_t free = 0;
  const bool told = system.f_blocks > 0;  // ramfs and others report no sizes
  if (told && !mul_overflow(std::uint64_t{system.f_bavail}, static_cast<std::uint64_t>(system.f_frsize), &free))
    info.free_bytes = std::min(info.free_bytes, free);
  return info;
}

}  // namespace

FilesystemKind filesystem_kind(std::uint32_t magic) {
  const auto* const known = std::ranges::find(kKinds, magic, &FilesystemKind::magic);
  if (known == std::end(kKinds)) return {magic, nullptr};
  FilesystemKind kind = *known;
  kind.coherent = !kind.network || std::ranges::find(kCoherent, kind.name) != std::end(kCoherent);
  return kind;
}

bool locks_reach_all(std::string_view kind, std::string_view options) {
  const std::string all = fmt::format(",{},", options);
  const auto has = [&all](const char* option) { return all.find(option) != std::string::npos; };
  if (kind == "lustre") return has(",flock,");
  if (kind == "nfs") return has(",local_lock=none,") && !has(",nolock,");
  if (kind == "gfs2") return !has(",localflocks,");
  return kind == "gpfs" || kind == "ceph" || kind == "fuse.glusterfs";
}

// Newer kernels report the alignment of direct I/O; older headers lack the names. The layout of struct statx, 256
// bytes, is part of the kernel's interface, so the offsets below hold with any header.
std::uint32_t direct_io_alignment_of(const FileDescriptor& file) {
  constexpr unsigned kAskDirectIo = 0x2000;  // STATX_DIOALIGN
  constexpr std::size_t kMemoryAt = 152, kOffsetAt = 156;
  struct statx found = {};
  static_assert(sizeof found == 256);
  if (::statx(file.get(), "", AT_EMPTY_PATH, kAskDirectIo, &found) != 0 || (found.stx_mask & kAskDirectIo) == 0)
    return 0;
  std::array<unsigned char, sizeof found> bytes;
  std::memcpy(bytes.data(), &found, sizeof found);
  std::uint32_t memory = 0, offset = 0;
  std::memcpy(&memory, bytes.data() + kMemoryAt, sizeof memory);
  std::memcpy(&offset, bytes.data() + kOffsetAt, sizeof offset);
  return memory == 0 || offset == 0 ? 0 : std::max(memory, offset);
}

bool takes_direct_page(const FileDescriptor& file) {
  struct statfs system;
  if (::fstatfs(file.get(), &system) != 0) return false;
  for (const std::uint32_t in_memory : {0x01021994U, 0x858458F6U})  // tmpfs, ramfs: the page cache is the file
    if (static_cast<std::uint32_t>(system.f_type) == in_memory) return false;
  alignas(kUsualAlignment) std::array<std::byte, kUsualAlignment> page;
  page.fill({});
  return ::pwrite(file.get(), page.data(), page.size(), 0) >= 0 &&
         ::pread(file.get(), page.data(), page.size(), 0) >= 0;
}

namespace {

// A new file in `folder` without a name: where the file system has none, its name is removed at once.
FileDescriptor nameless_file(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  std::string name = folder + "/.thalweg_XXXXXX";
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (file.is_open()) (void)::unlink(name.c_str());
  return file;
}

// Where the kernel tells no alignment: that of the file system of a new file, by a page that is tried once. Some FUSE file
// systems open a file for direct I/O, and fail at the first write.
std::uint32_t tried_alignment(const FileDescriptor& file, const std::string& path) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::uint32_t>;  // never destroyed: threads may run at exit
  const auto storage = filesystem_info_of(file.get(), path);
  if (!storage.has_value()) return 0;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known->try_emplace(storage.value().identity, 0);
  if (!is_new) return found->second;
  const auto direct = open_again(file, {.write = true}, true);
  if (direct.has_value() && takes_direct_page(direct.value())) found->second = kUsualAlignment;
  return found->second;
}

}  // namespace

// Kernels report it for regular files only: a nameless file stands in for one that does not exist yet.
std::uint32_t direct_io_alignment_at(const std::string& path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  FileDescriptor file;
  if (exists && S_ISREG(status.st_mode)) file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::uint32_t told = file.is_open() ? direct_io_alignment_of(file) : 0;
  if (told != 0) return told;
  file = nameless_file(exists && S_ISDIR(status.st_mode) ? path : folder_of(path));
  if (!file.is_open()) return 0;
  told = direct_io_alignment_of(file);
  return told != 0 ? told : tried_alignment(file, path);
}

Result<StorageInfo> filesystem_info(const std::string& path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const std::string place = exists ? path : folder_of(path);
  struct statfs system;
  if ((!exists && ::stat(place.c_str(), &status) != 0) || stripe_calls().system_at(place.c_str(), &system) != 0) {
    const int err = errno;
    if (err == ENOENT) return Status::failed_call(Code::not_found, err, fmt::format("there is no folder '{}'", place));
    return os_error(err, "cannot tell the file system of '{}'", place);
  }
  StorageInfo info = info_from(status, system, -1, place);
  if (!takes_stripes(info.kind)) return info;
  const FileDescriptor file(::open(place.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.is_open()) set_stripes(info, stripes_of(file.get(), info.kind));
  return info;
}

Result<StorageInfo> filesystem_info_of(int file, const std::string& path) {
  struct stat status;
  struct statfs system;
  if (::fstat(file, &status) != 0 || stripe_calls().system_of(file, &system) != 0)
    return os_error(errno, "cannot tell the file system of '{}'", path);
  StorageInfo info = info_from(status, system, file, path);
  set_stripes(info, stripes_of(file, info.kind));
  return info;
}

StorageInfo caching_of(int file) {
  struct stat status;
  struct statfs system;
  if (::fstatfs(file, &system) != 0) return {};
  const bool is_fuse = static_cast<std::uint32_t>(system.f_type) == kFuse && ::fstat(file, &status) == 0;
  return caching_from(system, is_fuse ? mount_of(status.st_dev)[0] : "");
}

}  // namespace thalweg
