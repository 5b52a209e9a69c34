// Random programs of operations on a vpfile, replayed on one stdio file per virtual processor and compared byte for
// byte and result for result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "group/group.hpp"
#include "storage/backend.hpp"

namespace thalweg::test {

struct VpProgram {
  std::uint64_t seed = 0;
  std::shared_ptr<Backend> backend;
  std::string path;  // of the vpfile
  // The stdio files of task t are in '<folder>-task<t>'. No folder is made by two nodes at once: distributed GlusterFS
  // may tell the second that a file of this name exists.
  std::string folder;
};

// Collective. All tasks draw the same program; each replays all streams and compares those of its VPs.
Op<Status> play_vp_program(Group& group, VpProgram program);

// Whether an access of this process used the mode: "write NB", "read IB", ...
bool vp_mode_was_seen(const std::string& what);

}  // namespace thalweg::test
