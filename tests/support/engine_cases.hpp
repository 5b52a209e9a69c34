// Accesses drawn from a seed, for tests that compare the engine with a model byte by byte. Every task can draw those of
// every other task.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "engine/access.hpp"
#include "group/group.hpp"

namespace thalweg::test {

// How the extents of all tasks lie in the file.
//   blocks       task after task, no hole
//   strided      equal pieces of one task at equal distances, task after task
//   interleaved  pieces of the tasks in turn, no hole
//   sparse       a few pieces far apart
//   overlapping  anywhere in a small range
//   tiny         1 to 64 bytes, with holes of about as many
//   skewed       as blocks, but one task has nearly all
enum class Layout { blocks, strided, interleaved, sparse, overlapping, tiny, skewed };
inline constexpr int kLayouts = 7;

struct Case {
  std::uint64_t seed = 1;
  TaskRank tasks = 1;
  Layout layout = Layout::blocks;
  Placement placement = Placement::at_extents;
  bool common = false;
  bool unsorted = false;        // the list of a task is not in file order
  bool apart_in_memory = true;  // pieces do not follow one another in memory
  bool some_empty = false;      // tasks without a byte
  std::uint64_t scale = 1;      // of lengths and distances
};
std::ostream& operator<<(std::ostream& out, const Case& what);

// Draws everything but the number of tasks.
Case draw_case(std::uint64_t seed, TaskRank tasks);
// Name=value pairs for PlainOpen::hints.
std::string draw_hints(std::uint64_t seed);

// The list of one task, without memory: where each extent is meant to lie. Of common cases the same for all tasks.
// `base`: the shared position, for accesses in order.
std::vector<Extent> places_of(const Case& what, TaskRank task, std::uint64_t base);
// Of the shared position after an access in order.
std::uint64_t bytes_of_all(const Case& what);
// Where TW_AT_OFFSET begins for this task.
std::uint64_t offset_of(const Case& what, TaskRank task);

// Memory for the places of a list, with bytes between and around them that nobody may touch.
class Buffer {
 public:
  static constexpr std::byte kGuard{0xA5};
  Buffer(const Case& what, TaskRank task, const std::vector<Extent>& places);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::vector<Extent>& extents() const { return extents_; }
  std::uint64_t bytes() const { return bytes_; }
  // What a task writes: byte `at` of its data.
  static std::byte value(const Case& what, TaskRank task, std::uint64_t at);
  void fill(const Case& what, TaskRank task);
  bool guards_are_whole() const;

 private:
  std::vector<std::byte> memory_;
  std::vector<Extent> extents_;
  std::uint64_t bytes_ = 0;
};

}  // namespace thalweg::test
