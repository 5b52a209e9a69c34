// Stripes of a file: which targets (servers, OSTs) store which bytes, where the file system tells, and the stripes that
// are asked for when a file is made. Lustre and BeeGFS tell both numbers and take requests; GPFS tells its block only.
//
// Nothing here was tried on a real Lustre, BeeGFS or GPFS: tests replace StripeCalls by recorded answers.
// A C program gets the two numbers from tw_storage_describe() (stripe_bytes, stripe_count).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct statfs;

namespace thalweg {

// Stripe s, the bytes from s * bytes on, lies on target s % count.
struct StripeLayout {
  std::uint64_t bytes = 0;                  // of a stripe; 0: not told, as for composite layouts of Lustre (PFL)
  std::uint32_t count = 0;                  // targets of the file; 0: not told
  std::vector<std::uint32_t> targets = {};  // their ids in order, of a file; empty: not told, as on BeeGFS
};

inline constexpr std::uint32_t kAllTargets = ~0U;

// Stripes asked for when a file is made; 0: as the folder has it.
struct StripeRequest {
  std::uint64_t bytes = 0;
  std::uint32_t count = 0;  // or kAllTargets
  bool any() const { return bytes > 0 || count > 0; }
};

// Stripes of an open file, or of new files in an open folder, of a file system of this kind (StorageInfo::kind).
StripeLayout stripes_of(int file, std::string_view kind);
// Whether new files of this kind of file system may be made with stripes.
bool takes_stripes(std::string_view kind);
// Makes a new file at `path` with these stripes. False: the call made no file. Where the servers refuse the
// stripes, the file has those of its folder.
bool make_striped_file(const std::string& path, StripeRequest asked, std::uint32_t permissions);
// "; stripes of 1 MiB over 8 targets", and that a request is not in force. "": there is nothing to tell.
std::string describe_stripes(const StripeLayout& stripes, StripeRequest asked, std::string_view kind);

// The system calls that tell the kind of a file system and the stripes of a file, as a table that a test can replace
// while no other thread uses it.
struct StripeCalls {
  int (*system_at)(const char*, struct statfs*);                   // statfs
  int (*system_of)(int, struct statfs*);                           // fstatfs
  ssize_t (*get_attribute)(int, const char*, void*, std::size_t);  // fgetxattr
  int (*control)(int, unsigned long, void*);                       // ioctl
};
StripeCalls& stripe_calls();

}  // namespace thalweg
