// Brings the parts of a multifile from the tiers of the nodes to the file system that the nodes share.
//
//  1. Each part is copied to the draining name, at the offsets that it has: all but the second state slots of the
//     physical files, which say "closed". It is synced. Then a file beside it says that this part has arrived, and that
//     of part 0 keeps the slots. The process that copies locks this file (drain_part).
//  2. Once all parts have arrived, whoever finds it so writes the slots, that of physical file 0 last; or it repairs
//     what was flushed and not closed. The physical files are renamed, physical file 0 last; the files of the parts go
//     (finish_drain).
//
// Each step can be repeated after a death. Several processes may finish a drain at once: all write the same bytes.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "multifile/tier/tier_record.hpp"
#include "os/wait.hpp"

namespace thalweg {

// State of a multifile that was written to tiers.
enum class Drained {
  not_yet,  // parts of it are missing
  whole,    // under its final name
  aside,    // under its draining name: flushed, not closed, repaired; an older whole one has the final name
  replaced  // a multifile that was made later has the final name
};

// How far the drain of a part is. `steps` grows while it goes on.
struct PartState {
  bool arrived = false;
  std::uint64_t steps = 0;
  bool closed = false;  // part 0
  Bytes slots;          // part 0: the second state slot of each physical file
};
Result<PartState> read_part(Backend& backend, const TierRecord& record, std::uint32_t part);
// Steps of all parts. It changes as long as some node drains.
Result<std::uint64_t> steps_of_all(Backend& backend, const TierRecord& record);

inline constexpr std::chrono::seconds kPatience{60};  // with drains of others that make no step

// Repeats `once` while it returns unsafe, as another program drains the multifile, until no node has made a step for
// `patience`.
template <class Try>
auto try_behind_drain(Backend& backend, const TierRecord& record, std::chrono::milliseconds patience, Try&& once)
    -> decltype(once()) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t steps = 0;
  Clock::time_point changed = Clock::now(), looks = changed;
  for (;; sleep_for(std::chrono::milliseconds(100))) {
    auto done = once();
    if (done.status().code() != Code::unsafe) return done;
    if (Clock::now() < looks) continue;
    looks = Clock::now() + patience / 4;  // a look opens a file for each node
    TW_ASSIGN_OR_RETURN(const std::uint64_t now, steps_of_all(backend, record));
    if (std::exchange(steps, now) != now) changed = Clock::now();
    if (Clock::now() - changed > patience) return done;
  }
}

// Copies the part in `folder`; does nothing where it has arrived. unsafe: another process copies it.
Status drain_part(Backend& backend, const std::string& folder, const TierRecord& record);
// Makes the multifile whole where all parts have arrived. `missing`: the numbers of those that have not; may be null.
Result<Drained> finish_drain(const std::shared_ptr<Backend>& backend, const TierRecord& record,
                             std::string* missing = nullptr);

struct TierDrain {
  std::string tier;
  std::string only;                                // this final path; empty: all
  bool lost = false;                               // copies take the place of the parts of other nodes
  std::function<void(const std::string&)> tell;    // a line for each multifile
  std::chrono::milliseconds patience = kPatience;  // with another program that drains `only`, and makes no step
};
// Drains what is in a tier and no running program holds. not_closed: parts of a multifile are missing.
Status drain_tier(const std::shared_ptr<Backend>& backend, const TierDrain& what);

}  // namespace thalweg
