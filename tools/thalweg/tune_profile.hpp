// The profile as a file: read, changed in one entry, put in place of the old one.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"
#include "tune_measure.hpp"

namespace tool {

// Where it is. Throws Failure (usage) when profiles are turned off.
std::string profile_path();

// {"version": 1, "file_systems": [...]}; without file systems when there is no file. Throws Failure when there is
// something else.
Json load_profile(const std::string& path);

// The key of entries: the file system that the folder is on. Throws Failure: there is no such folder.
std::string identity_of(const std::string& folder);

// The entry of the file system of that identity; null when there is none.
const Json* find_file_system(const Json& profile, const std::string& identity);

// What was measured, as an entry.
Json entry_of(const std::string& identity, const Measured& found);

// What ranks found for the entry before, and did not find now, stays: its names.
std::vector<std::string> keep_of_ranks(const Json* before, Json& entry);

// Puts the entry in place of the one of the same file system, or behind all.
void put_entry(Json& profile, const Json& entry);

// Makes the folder of the profile; throws Failure when no file can be made there.
void prepare_folder(const std::string& path);

// The old file, or the new one, is there at any time.
void store_profile(const std::string& path, const Json& profile);

}  // namespace tool
