// Opens a file that is to be changed as a whole, and locks it against other writers.
#pragma once

#include <memory>
#include <string>

#include "storage/backend.hpp"

namespace thalweg {

// Opens a file that will be locked by hold_opened(), lock_session() or join_writers().
Result<std::unique_ptr<StoredFile>> open_to_lock(Backend& backend, const std::string& path, OpenMode mode);

// Opens the file for reading and writing and locks its session (StoredFile::lock_session); afterwards its name is
// verified. not_found when there is no file.
Result<std::unique_ptr<StoredFile>> hold_file(Backend& backend, const std::string& path);

// Locks the session of a file of open_to_lock(). False when its name belongs to another file by now.
Result<bool> hold_opened(StoredFile& file);

// For a file opened earlier: not_found when it was removed, unsafe when its name belongs to another file.
Status check_has_its_name(Backend& backend, StoredFile& file);

// Removes an open file unless its name belongs to another file. Failures are ignored.
void remove_own(Backend& backend, StoredFile& file);

inline constexpr int kMostTriesToHold = 100;
Status replaced_again_and_again(const std::string& path);

}  // namespace thalweg
