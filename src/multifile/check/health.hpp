// Verify, repair and defragment whole multifiles.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "multifile/options.hpp"
#include "storage/backend.hpp"

namespace thalweg {

struct Watch {
  std::function<void(const std::string&)> finding;  // may be empty
  // Bytes done and in all of the step at hand; may be empty. False ends the work with Code::stopped.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct Health {
  std::uint64_t n_logical = 0;
  std::uint64_t damaged_logical = 0;
  std::uint64_t logical_bytes = 0;  // of logical files that are whole
  std::uint64_t findings = 0;
  bool closed = false;
  bool repaired = false;
};

// Reads every logical file. OK: closed and whole; not_closed or corrupt_file otherwise.
Status verify_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch, Health& health);
// See tw_multifile_repair().
Status repair_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch, Health& health);
// See tw_multifile_defrag().
Status defrag_multifile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                        const Options& options, const Watch& watch);

}  // namespace thalweg
