// The profile that `thalweg tune` measured on a file system, as JSON under the XDG configuration directory. Without
// one, or with one that cannot be read, the defaults stand: a profile can only make things faster, never fail an open.
// Format: docs/design/storage.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shared_file.hpp"

namespace thalweg {

// What was measured of one file system, and what was decided from it.
struct StorageProfile {
  std::string id;        // StorageInfo::identity
  std::string measured;  // when, as text
  bool direct_reads = false;
  bool direct_writes = false;
  // What is not told stays as it is by default.
  std::optional<unsigned> queue_depth;
  std::optional<std::uint64_t> transfer_bytes;
  std::optional<std::uint64_t> staging_bytes;
  StorageCosts buffered;
  StorageCosts direct;
};

// Of direct transfers, where nothing was measured.
StorageCosts default_direct_costs();

// A file system that has a wrong type or a number out of range among its values is left out; what is no profile at all
// gives none.
std::vector<StorageProfile> parse_profiles(std::string_view json);
// The same of a regular file of at most 1 MiB; else none.
std::vector<StorageProfile> read_profiles(const std::string& path);

// $THALWEG_PROFILE, or thalweg/storage.json in $XDG_CONFIG_HOME or ~/.config. "": turned off by THALWEG_PROFILE being
// empty or "none", or nobody knows where it would be.
std::string profile_path();

// Of the file system of that identity; null: there is none. The file is read once per process. Threads: any.
const StorageProfile* find_profile(std::string_view identity);

// Puts what the profile of the file system says over `strategy`.
void apply_profile(std::string_view identity, Strategy& strategy);

}  // namespace thalweg
