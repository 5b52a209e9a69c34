// Accesses drawn from a seed, for tests that compare the engine with a model byte by byte. Every task can compute the
// accesses of all others.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "engine/task_access.hpp"
#include "group/group.hpp"

namespace thalweg::test {

// Layout of the extents of all tasks in the file.
//   blocks       task after task, no hole
//   strided      equal pieces of one task at equal distances, task after task
//   interleaved  alternating pieces of the tasks, no hole
//   sparse       a few distant pieces
//   overlapping  anywhere in a small range
//   tiny         1 to 64 bytes, with holes of similar size
//   skewed       like blocks, but one task has nearly all bytes
enum class Layout { blocks, strided, interleaved, sparse, overlapping, tiny, skewed };
inline constexpr int kLayouts = 7;

struct Case {
  std::uint64_t seed = 1;
  TaskRank tasks = 1;
  Layout layout = Layout::blocks;
  Placement placement = Placement::at_extents;
  bool common = false;
  bool unsorted = false;        // the list of a task is not in file order
  bool apart_in_memory = true;  // the pieces are separate in memory
  bool some_empty = false;      // some tasks have no bytes
  std::uint64_t scale = 1;      // factor of lengths and distances
};
std::ostream& operator<<(std::ostream& out, const Case& what);

// Draws everything but the number of tasks.
Case draw_case(std::uint64_t seed, TaskRank tasks);
// Returns name=value pairs for PlainOpen::hints.
std::string draw_hints(std::uint64_t seed);

// Returns the extents of one task without memory; in common cases they are equal on all tasks. `base`: the shared
// position, for accesses in order.
std::vector<Extent> places_of(const Case& what, TaskRank task, std::uint64_t base);
// Bytes by which an access in order advances the shared position.
std::uint64_t bytes_of_all(const Case& what);
// Offset of TW_AT_OFFSET for this task.
std::uint64_t offset_of(const Case& what, TaskRank task);

// Memory for the extents of a list, with guard bytes between and around them.
class Buffer {
 public:
  static constexpr std::byte kGuard{0xA5};
  Buffer(const Case& what, TaskRank task, const std::vector<Extent>& places);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::vector<Extent>& extents() const { return extents_; }
  std::uint64_t bytes() const { return bytes_; }
  // Value that a task writes for byte `at` of its data.
  static std::byte value(const Case& what, TaskRank task, std::uint64_t at);
  void fill(const Case& what, TaskRank task);
  bool guards_are_whole() const;

 private:
  std::vector<std::byte> memory_;
  std::vector<Extent> extents_;
  std::uint64_t bytes_ = 0;
};

}  // namespace thalweg::test
