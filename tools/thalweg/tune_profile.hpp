// The profile as a file: read, changed in one entry, and replaced atomically.
#pragma once

#include <thalweg/storage.h>

#include <string>

#include "text.hpp"

namespace tool {

// Its path. Throws Failure (usage) when profiles are turned off.
std::string profile_path();

// {"version": 1, "file_systems": [...]}; without file systems when the file is missing. Throws Failure for any other
// content.
Json load_profile(const std::string& path);

// Identity and direct alignment of the file system of the folder. Throws Failure unless it is one.
tw_storage_info storage_of(const std::string& folder);

// The entry of the file system with that identity; null: none.
Json* find_file_system(Json& profile, const std::string& identity);

// Replaces the entry of this file system, or appends it. What only the earlier entry has, the results with ranks, say, is
// added; returns whether there is any.
bool put_entry(Json& profile, Json& entry);

// Creates the folder of the profile; throws Failure when it is not writable.
void prepare_folder(const std::string& path);

// Replaces the file atomically.
void store_profile(const std::string& path, const Json& profile);

}  // namespace tool
