// Kept results of `thalweg check` for file systems: the member "checks" of the profile (docs/design/storage.md), the
// file of `thalweg tune`. What is missing or invalid there counts as unknown, and never fails an open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "os/filesystem_info.hpp"

namespace thalweg {

// $THALWEG_PROFILE, or thalweg/storage.json in $XDG_CONFIG_HOME or ~/.config. "": THALWEG_PROFILE is empty or "none",
// which turns profiles off, or no folder is known.
std::string profile_path();
// The text of a regular file of at most 1 MiB; otherwise "". Pipes and devices do not block.
std::string profile_text(const std::string& path);

struct KeptCheck {
  std::string coherent;                // "no"; "trusted": the user vouches for it; "seen" proves nothing; "": unknown
  std::string locks;                   // "all"; "node": they do not cross nodes; "none"; "": unknown
  std::uint32_t direct_alignment = 0;  // of direct transfers that work although the kernel tells none; 0: unknown
};

// By StorageInfo::identity.
std::map<std::string, KeptCheck, std::less<>> parse_checks(std::string_view json);
// Among those of the profile, which is read once per process. Threads: any.
KeptCheck find_check(std::string_view identity);

// A mount that was seen to be incoherent is never taken for a coherent one. What was seen of its locks counts.
void use_check(const KeptCheck& check, StorageInfo& storage);

}  // namespace thalweg
