// Explain: the plan and strategy of a hypothetical access.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/group_access.hpp"
#include "sharedfile/file_strategy.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Extent j of task i lies at i * task_distance + j * stride. The memory of each task is one piece.
struct RegularAccess {
  Direction direction = Direction::write;
  std::uint64_t tasks = 1;
  std::uint64_t processes = 1;  // processes over which the tasks are spread
  std::uint64_t extents = 1;    // extents of each task
  std::uint64_t bytes = 0;      // bytes of each extent
  std::uint64_t stride = 0;     // 0: extents are contiguous
  // 0: tasks interleave where a stride has room for all of them, else they follow one another
  std::uint64_t task_distance = 0;
};

// Fails with invalid_argument or out_of_range when no such access exists.
Result<GroupAccess> group_access_of(const RegularAccess& access);

// Returns lines of text. `path` need not exist.
Result<std::string> explain_access(Backend& backend, const std::string& path, std::string_view hints,
                                   const RegularAccess& access);

}  // namespace thalweg
