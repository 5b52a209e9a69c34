// Explain: how an access that nobody has made yet would be carried out, and by which strategy.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/group_access.hpp"
#include "sharedfile/strategy.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Extent j of task i lies at i * task_distance + j * stride. The memory of each task is one piece.
struct RegularAccess {
  Direction direction = Direction::write;
  std::uint64_t tasks = 1;
  std::uint64_t processes = 1;  // over which the tasks are spread
  std::uint64_t extents = 1;    // of each task
  std::uint64_t bytes = 0;      // of each extent
  std::uint64_t stride = 0;     // 0: one extent behind the other
  // 0: the tasks take turns where a stride has room for all of them, else each begins behind the one before
  std::uint64_t task_distance = 0;
};

// invalid_argument or out_of_range when there is no such access.
Result<GroupAccess> group_access_of(const RegularAccess& access);

// Lines of text. `path` may not exist yet.
Result<std::string> explain_access(Backend& backend, const std::string& path, std::string_view hints,
                                   const RegularAccess& access);

}  // namespace thalweg
