// The profile that `thalweg tune` measured on a file system, as JSON under the XDG configuration directory. Without
// one, or with an unreadable one, the defaults stand: its measurements affect speed only, and it never fails an open.
// Format: docs/design/storage.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/shared_file.hpp"

namespace thalweg {

// The measurements of one file system, and the strategy derived from them. Absent values keep their defaults.
struct StorageProfile {
  std::string id;        // StorageInfo::identity
  std::string measured;  // date, as text
  Strategy strategy;
};

// Costs of direct transfers without a measurement.
StorageCosts default_direct_costs();

// Omits file systems with a value of a wrong type or out of range; returns none for an invalid document.
std::vector<StorageProfile> parse_profiles(std::string_view json);
// Parses a regular file of at most 1 MiB; otherwise returns none.
std::vector<StorageProfile> read_profiles(const std::string& path);

// The profile of the file system with that identity; null when there is none. The file is read once per process.
// Threads: any.
const StorageProfile* find_profile(std::string_view identity);

}  // namespace thalweg
