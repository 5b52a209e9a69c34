// What must hold of the storage that a crash left behind: an unclosed multifile is refused with a message that names
// the repair, an opening that asks for it and a repair give back all that was durable and nothing else, a repair can be
// repeated, and afterwards the multifile can be appended to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/write_history.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {

struct Aftermath {
  std::shared_ptr<Backend> storage;  // as a new process finds it; repaired and appended to by the check
  std::string path;
  std::vector<History> histories;  // by rank
  Death death = Death::process;
  bool was_closed = false;     // every session of the program was closed with success
  bool may_be_zeros = false;   // without checksum and sync: data that never arrived, of a part that was closed
  bool closes_at_once = true;  // nothing of it was closed before the multifile is: one physical file, one session
  bool had_closed = false;     // an earlier one was, and what it left had reached the storage: it can be appended to
};

// Nothing when all of it holds, else what does not.
std::string check_aftermath(Aftermath aftermath);

// The parts of the above.
// Reads all logical files and judges them. durable_is_there: what was durable may not be refused. `sizes`: may be null,
// else it gets the bytes of each.
enum class Demand { nothing_wrong, durable_is_there };
std::string check_content(const Aftermath& aftermath, bool recover, Demand demand,
                          std::vector<std::uint64_t>* sizes = nullptr);
bool anything_durable(const Aftermath& aftermath);

}  // namespace thalweg::test
