// Opens a file that is to be changed as a whole, and locks it against other writers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/watch.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Opens a file that will be locked by lock_session() or join_writers().
Result<std::unique_ptr<StoredFile>> open_to_lock(Backend& backend, const std::string& path, OpenMode mode);

// Opens the file at `path` by `open`, which uses open_to_lock(), and locks its session (StoredFile::lock_session). Opens
// it again where it was removed, or its name belongs to another file, by then; unsafe after 100 times.
using OpenFile = std::function<Result<std::unique_ptr<StoredFile>>()>;
Result<std::unique_ptr<StoredFile>> hold_opened(const std::string& path, const OpenFile& open);

// Opens the file for reading and writing and locks its session. not_found when there is no file.
Result<std::unique_ptr<StoredFile>> hold_file(Backend& backend, const std::string& path);

// For a file that looks unclosed, where locks (of `held`) do not reach all nodes: looks at its files `names`, of which
// some may be missing, twice, with seconds between. unsafe: a program of another node writes it, as something has
// changed; or, unless `force`, may have it open. stopped: `go_on` returned false.
Status check_unwritten(Backend& backend, const StoredFile& held, const std::vector<std::string>& names, bool force,
                       const GoOn& go_on);

// The failure of a program that finds in `file` another state than it has left there.
Status taken_by_another(const StoredFile& file);

// For a file opened earlier: not_found when it was removed, unsafe when its name belongs to another file.
Status check_has_its_name(Backend& backend, StoredFile& file);

// Removes an open file if it still has its name. Failures are ignored.
void remove_own(Backend& backend, StoredFile& file);

}  // namespace thalweg
