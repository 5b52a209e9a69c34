// Verifies, repairs and defragments whole multifiles.
#pragma once

#include <memory>
#include <string>

#include "base/watch.hpp"
#include "multifile/options.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Reads every logical file. OK: closed and whole; not_closed or corrupt_file otherwise.
Status verify_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch,
                        CheckResult& result);
// See tw_multifile_repair(). `force`: TW_REPAIR_FORCE.
Status repair_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch,
                        CheckResult& result, bool force = false);
// See tw_multifile_defrag().
Status defrag_multifile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                        const MultifileOptions& options, const Watch& watch);

}  // namespace thalweg
