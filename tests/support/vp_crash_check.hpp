// What must hold of the storage that a crash left of a vpfile: one that was not closed is refused with a message that
// names the repair; a repair gives back all that was durable and nothing else, and the vpfile is whole then; a repair
// can be repeated; and afterwards the vpfile can be appended to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/write_history.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

struct VpAftermath {
  std::shared_ptr<Backend> storage;  // as a new process finds it; repaired and appended to by the check
  std::string path;
  std::vector<History> histories;  // by VP
  Death death = Death::process;
  bool was_closed = false;        // every session of the program was closed with success
  std::uint64_t zeros_below = 0;  // of each stream: what is not durable there may be zero
  bool had_closed = false;        // an earlier one was, and what it left had reached the storage: it can be appended to
};

// Nothing when all of it holds, else what does not.
std::string check_vp_aftermath(VpAftermath aftermath);

// The parts of the above.
// Opens it as it is, reads all streams and judges them; `sizes`: may be null, else it gets theirs.
std::string check_vp_content(const VpAftermath& aftermath, std::vector<std::uint64_t>* sizes = nullptr);
bool anything_durable(const VpAftermath& aftermath);

// The four files of a vpfile, and a copy of them in a memory backend of their own.
std::vector<std::string> vp_paths(const std::string& path);

}  // namespace thalweg::test
