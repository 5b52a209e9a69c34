#include "os/stripes.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include <algorithm>

#include "base/size_units.hpp"
#include "base/wire.hpp"
#include "os/file_ops.hpp"
#include "os/filesystem_info.hpp"

namespace thalweg {

namespace {

// ---- Lustre: struct lov_user_md_v1 and _v3 of lustre_user.h. The attribute is little-endian; on another machine its
// magic number is none of these ----

constexpr std::uint32_t kLovV1 = 0x0BD10BD0, kLovV3 = 0x0BD30BD0;
constexpr std::uint32_t kRaid0 = 1, kOverstriped = 0x200;  // patterns
constexpr std::uint16_t kAll = 0xFFFF;
struct Lov {
  std::uint32_t magic, pattern;
  std::uint64_t object[2];
  std::uint32_t bytes;
  std::uint16_t count, first;
};
struct LovObject {
  std::uint64_t object[2];
  std::uint32_t generation, target;
};
constexpr std::size_t kPoolBytes = 16;  // in front of the objects of version 3

// Composite layouts (PFL, mirrors) and those without objects on OSTs (released, on the MDT) count as not told.
StripeLayout parse_lov(ByteView bytes) {
  const Lov lov = take_value<Lov>(bytes);
  if ((lov.magic != kLovV1 && lov.magic != kLovV3) || (lov.pattern & ~kOverstriped) > kRaid0 || lov.bytes == 0)
    return {};
  StripeLayout layout{lov.bytes, lov.count == kAll ? 0U : lov.count};
  if (lov.magic == kLovV3) (void)take_bytes(bytes, kPoolBytes);
  while (layout.targets.size() < layout.count && bytes.size() >= sizeof(LovObject))
    layout.targets.push_back(take_value<LovObject>(bytes).target);
  if (layout.targets.size() < layout.count) layout.targets.clear();
  return layout;
}

StripeLayout lustre_stripes(int file) {
  std::vector<std::byte> lov(65536);  // the most of an attribute
  const ssize_t bytes = stripe_calls().get_attribute(file, "lustre.lov", lov.data(), lov.size());
  return bytes < 0 ? StripeLayout{} : parse_lov(ByteView(lov).first(static_cast<std::size_t>(bytes)));
}

// The file is made without objects, and the request makes these, on targets of the servers' choice.
bool make_on_lustre(const std::string& path, StripeRequest asked, std::uint32_t permissions) {
  constexpr int kWithoutObjects = 0100000000 | O_NOCTTY | O_ASYNC;  // O_LOV_DELAY_CREATE, old and new
  const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | kWithoutObjects;
  const FileDescriptor file(::open(path.c_str(), flags, static_cast<mode_t>(permissions)));
  const std::uint16_t count = asked.count == kAllTargets ? kAll : static_cast<std::uint16_t>(asked.count);
  Lov lov{kLovV1, kRaid0, {}, static_cast<std::uint32_t>(asked.bytes), count, kAll};
  if (file.is_open()) (void)stripe_calls().control(file.get(), _IOW('f', 154, long), &lov);  // LL_IOC_LOV_SETSTRIPE
  return file.is_open();
}

// ---- BeeGFS: beegfs_ioctl_typedefs.h ------------------------------------------------------------------------------

struct BeegfsStripes {
  unsigned pattern, chunk_bytes;
  std::uint16_t targets;
};
struct BeegfsNewFile {
  const char* name;
  unsigned permissions, targets, chunk_bytes;
};
constexpr unsigned kMostBeegfsTargets = 256;

StripeLayout beegfs_stripes(int file) {
  BeegfsStripes found{};
  if (stripe_calls().control(file, _IOR('f', 25, BeegfsStripes), &found) != 0) return {};
  return {found.chunk_bytes, found.targets};
}

bool make_on_beegfs(const std::string& path, StripeRequest asked, std::uint32_t permissions) {
  const FileDescriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name = path.substr(path.rfind('/') + 1);
  BeegfsNewFile file{name.c_str(), permissions, std::min(asked.count, kMostBeegfsTargets),
                     static_cast<unsigned>(asked.bytes)};
  return folder.is_open() && stripe_calls().control(folder.get(), _IOW('f', 27, BeegfsNewFile), &file) == 0;
}

}  // namespace

StripeCalls& stripe_calls() {
  static StripeCalls calls{::statfs, ::fstatfs, ::fgetxattr,
                           [](int file, unsigned long request, void* with) { return ::ioctl(file, request, with); }};
  return calls;
}

StripeLayout stripes_of(int file, std::string_view kind) {
  if (kind == "lustre") return lustre_stripes(file);
  return kind == "beegfs" ? beegfs_stripes(file) : StripeLayout{};
}

bool takes_stripes(std::string_view kind) { return kind == "lustre" || kind == "beegfs"; }

bool make_striped_file(const std::string& path, StripeRequest asked, std::uint32_t permissions) {
  struct statfs system;
  if (stripe_calls().system_at(folder_of(path).c_str(), &system) != 0) return false;
  const char* const name = filesystem_kind(static_cast<std::uint32_t>(system.f_type)).name;
  const std::string_view kind = name != nullptr ? name : "";
  if (kind == "lustre") return make_on_lustre(path, asked, permissions);
  return kind == "beegfs" && make_on_beegfs(path, asked, permissions);
}

std::string describe_stripes(const StripeLayout& stripes, StripeRequest asked, std::string_view kind) {
  std::string text;
  if (stripes.bytes > 0) text = "; stripes of " + exact_size(stripes.bytes);
  if (stripes.count > 0) text += fmt::format(" over {} target{}", stripes.count, stripes.count == 1 ? "" : "s");
  if (stripes.bytes == 0 && takes_stripes(kind)) text = "; stripes not told (a composite layout, or none)";
  const bool all = asked.count == kAllTargets && stripes.count > 0;
  const bool other_count = asked.count > 0 && asked.count != stripes.count && !all;
  if (!other_count && (asked.bytes == 0 || asked.bytes == stripes.bytes)) return text;
  return text + fmt::format("; hint {} not followed: {}", other_count ? "striping_factor" : "striping_unit",
                            takes_stripes(kind) ? "the servers chose otherwise, or the file existed"
                                                : fmt::format("{} sets no stripes", kind));
}

}  // namespace thalweg
