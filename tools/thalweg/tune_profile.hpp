// The profile as a file: read, changed in one entry, and replaced atomically.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"

namespace tool {

// Its path. Throws Failure (usage) when profiles are turned off.
std::string profile_path();

// {"version": 1, "file_systems": [...]}; without file systems when the file is missing. Throws Failure for any other
// content.
Json load_profile(const std::string& path);

// The key of entries: the file system of the folder. Throws Failure when the folder is missing.
std::string identity_of(const std::string& folder);

// The entry of the file system with that identity; null: none.
const Json* find_file_system(const Json& profile, const std::string& identity);

// Keeps earlier results with ranks that are missing now; returns their names.
std::vector<std::string> keep_of_ranks(const Json* before, Json& entry);

// Replaces the entry of this file system, or appends it.
void put_entry(Json& profile, const Json& entry);

// Creates the folder of the profile; throws Failure when it is not writable.
void prepare_folder(const std::string& path);

// Replaces the file atomically.
void store_profile(const std::string& path, const Json& profile);

}  // namespace tool
