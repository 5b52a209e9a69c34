// Checks the storage that a crash of a vpfile program left behind. An unclosed vpfile is refused with a message that
// names the repair; a repair restores exactly what was durable and completes the vpfile; a repair can be repeated;
// afterwards the vpfile accepts an append.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/crash/write_history.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

struct VpAftermath {
  std::shared_ptr<Backend> storage;  // as a new process finds it; the check repairs it and appends to it
  std::string path;
  std::vector<History> histories;  // by VP
  Death death = Death::process;
  bool was_closed = false;        // every session of the program closed with success
  std::uint64_t zeros_below = 0;  // in each stream, bytes that are not durable may be zero below this position
  std::uint64_t lattice = 0;      // in bytes of each stream: it has no checksums, so likewise after a machine's death
  bool had_closed = false;        // an earlier session closed and reached storage: the vpfile accepts an append
  bool unsynced_close = false;    // a later session closed without a sync: its blocks may be damaged for good
};

// Returns "" when all checks pass, else what failed.
std::string check_vp_aftermath(VpAftermath aftermath);

// Parts of check_vp_aftermath().
// Opens the vpfile as it is and checks all streams; `sizes`, unless null, receives their sizes.
std::string check_vp_content(const VpAftermath& aftermath, std::vector<std::uint64_t>* sizes = nullptr);
bool anything_durable(const VpAftermath& aftermath);

// Paths of the four files of a vpfile; copy of them in a new memory backend.
std::vector<std::string> vp_paths(const std::string& path);

}  // namespace thalweg::test
