// Checks the storage that a crash left behind. An unclosed multifile is refused with a message that names the repair;
// an opening with recovery and a repair restore exactly what was durable; a repair can be repeated; afterwards the
// multifile accepts an append.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/crash/write_history.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

struct Aftermath {
  std::shared_ptr<Backend> storage;  // as a new process finds it; the check repairs it and appends to it
  std::string path;
  std::vector<History> histories;  // by rank
  Death death = Death::process;
  bool was_closed = false;     // every session of the program closed with success
  bool may_be_zeros = false;   // no checksum, no sync: data of a closed session may be missing
  bool closes_at_once = true;  // one physical file, one session: no part is closed before the multifile is
  bool had_closed = false;     // an earlier session closed and reached storage: the multifile accepts an append
};

// Returns "" when all checks pass, else what failed.
std::string check_aftermath(Aftermath aftermath);

// Parts of check_aftermath().
// Reads all logical files and checks their content. durable_is_there: durable data must be readable. `sizes`, unless
// null, receives the bytes of each logical file.
enum class Demand { nothing_wrong, durable_is_there };
std::string check_content(const Aftermath& aftermath, bool recover, Demand demand,
                          std::vector<std::uint64_t>* sizes = nullptr);
bool anything_durable(const Aftermath& aftermath);

}  // namespace thalweg::test
