// The mode of a collective access of all VPs, chosen from one reduction of the summaries of all tasks. Modes change
// speed, never content (Moore, Hatcher, Quinn, "Stream*").
//
//   NB  no buffering: all VPs take part and move the same number of bytes, that of the first write, from packed memory
//   CB  collective buffering: all VPs take part and move the same number of bytes, from any memory, in any number
//   IB  independent buffering: every other access; once a file was written in mode IB, all further writes are IB
#pragma once

#include <cstdint>
#include <limits>

#include "group/group.hpp"

namespace thalweg {

enum class VpMode : std::uint8_t { nb, cb, ib };

// Reasons why an access is not NB, as text for the user.
namespace vp_cause {
inline constexpr const char* kNone = "all take part with the same number of bytes, packed in memory";
inline constexpr const char* kMasked = "some take no part";
inline constexpr const char* kRagged = "numbers of bytes differ";
inline constexpr const char* kScattered = "positions differ";
inline constexpr const char* kStrided = "memory is not packed";
inline constexpr const char* kSize = "another number of bytes than the first write";
inline constexpr const char* kBetween = "the position is within a record";
inline constexpr const char* kBefore = "an earlier access decided";
}  // namespace vp_cause

// Summary of a task's access; joined over all tasks, of the collective access. A task without VPs leaves amounts and
// positions at their initial values.
struct StreamAccess {
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least_bytes = kMost;
  std::uint64_t most_bytes = 0;
  std::uint64_t least_position = kMost;
  std::uint64_t most_position = 0;
  std::uint64_t most_vps = 0;       // of a task
  std::uint64_t least_run = kMost;  // consecutive VPs of a task
  std::uint8_t wrong = 0;           // something failed already
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;
  std::uint8_t masked = 0;
  std::uint8_t scattered = 0;
  std::uint8_t strided = 0;
  std::uint8_t has_ib = 0;      // a VP of the task has bytes in the IB segment
  std::uint8_t own_writes = 0;  // the task has written VPs on its own (Lattice::own_writes)
  CallsOfAll calls;             // where they differ, the other fields are not valid

  void join(const StreamAccess& more);
  bool uniform() const {
    return masked == 0 && scattered == 0 && least_bytes >= most_bytes && least_position >= most_position;
  }
};

struct VpChoice {
  VpMode mode = VpMode::nb;
  const char* cause = vp_cause::kNone;
};
// `written`: mode of the writes so far. `record_bytes`: 0 where no record was written.
VpChoice choose_write(const StreamAccess& all, VpMode written, std::uint64_t record_bytes);
// `whole_row`: the access covers exactly one row of the lattice.
VpChoice choose_read(const StreamAccess& all, bool in_lattice, bool whole_row);

}  // namespace thalweg
