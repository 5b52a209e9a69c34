// One collective access: each task sends an AccessSummary of its own part; joined in rank order they become the
// GroupAccess, which is the same on all tasks and from which each computes the same Plan.
#pragma once

#include <cstdint>
#include <string>

#include "access/extent.hpp"
#include "base/call.hpp"
#include "base/status.hpp"
#include "engine/plan/file_domains.hpp"

namespace thalweg {

struct SharedFile;

// The summary of its access that a task sends the others. Within one process the pointers lead to its memory.
struct AccessSummary {
  ExtentSummary extents;
  union {
    std::byte* memory = nullptr;  // of its only extent: extents.n is at most 1
    const ExtentList* list;       // of its extents: extents.n is 2 or more
  };
  const SharedFile* file = nullptr;
  std::uint64_t position = 0;  // the shared position; sent by task 0 of an access in order
  std::uint64_t ticket = 0;    // which access in order this is; sent with the position
  Direction direction = Direction::read;
  bool failed = false;        // this task has found its access wrong
  bool in_order = false;      // extents lie one behind the other from the shared position, in rank order
  bool common = false;        // all tasks give the same arguments, and one moves the bytes for all
  bool whole_blocks = false;  // each extent begins and ends on a block of the page cache
};
static_assert(sizeof(AccessSummary) <= 112, "must fit a team's inline slot; more costs a second barrier");

// How the extents of all tasks lie in the file.
//   empty        no byte is moved
//   contiguous   task after task, no hole: one run
//   strided      equal runs at equal distances, tasks one behind the other
//   interleaved  the ranges of tasks lie within each other, or change their order
//   sparse       irregular holes, tasks one behind the other
//   overlapping  a task's own extents overlap, or more bytes are moved than lie between begin and end
enum class Shape { empty, contiguous, strided, interleaved, sparse, overlapping };
const char* shape_name(Shape shape);

// The access of consecutive tasks. Joining is associative, so a group of any size finds its access in one fold
// (Group::fold), and no task receives the summary of every other one.
struct GroupAccess {
  // The difference between the first task and another one, where all must agree.
  enum class Difference : std::uint8_t { none, direction, common, order, file, arguments };

  GroupAccess() = default;  // of no task
  GroupAccess(const AccessSummary& task, std::int64_t rank, Call call = Call::none);
  // `next`: the access of the tasks that follow in rank.
  void join(const GroupAccess& next);
  // Places an access in order, whose extents were joined from offset 0 on, behind `bytes` bytes.
  void shift(std::uint64_t bytes);

  Direction direction() const { return first.direction; }
  bool reads() const { return first.direction == Direction::read; }
  bool common() const { return first.common; }
  bool in_order() const { return first.in_order; }
  Status mismatch() const;  // invalid_argument, naming the two tasks, where `difference` is not none
  Shape shape() const;
  double density() const;        // bytes / (end - begin), at most 1
  double largest_share() const;  // of the bytes, by the task with most of them; 0 .. 1

  // Agreement between the tasks.
  CallsOfAll calls;     // where these differ, the fields below are not valid
  AccessSummary first;  // of the first of these tasks
  std::uint64_t tasks = 0;
  std::int64_t first_task = 0;
  std::int64_t differing_task = 0;
  Difference difference = Difference::none;
  bool any_failed = false;

  // The extents of all tasks; a common access has those of the first task.
  bool has_lists = false;    // some task has more than one extent
  bool whole_blocks = true;  // true of every task
  std::uint64_t bytes = 0;   // at most 2^64-1, then that
  std::uint64_t begin = 0, end = 0;
  std::uint64_t runs = 0, pieces = 0;             // sums over tasks
  std::uint64_t close_bytes = 0, close_runs = 0;  // sums over tasks (ExtentSummary)
  std::uint64_t most_bytes = 0;                   // of one task

  // Numbers that decide the shape, over the tasks that have bytes.
  FileDomain head, tail;  // the ranges of the first and the last of them
  bool head_is_run = true, tail_is_run = true;
  std::uint64_t run_bytes = 0;  // of every run, where `regular`
  std::uint64_t stride = 0;     // from run to run of one task; 0: no task has two
  std::uint64_t distance = 0;   // between tasks of one run each, modulo 2^64; 0: there are no two
  bool overlapping = false, rising = true, falling = true, regular = true;

  // Properties of the group and the file, which each task has without a message; set once, not joined.
  bool shared_memory = false;        // all tasks are in one process: each can reach the memory of every other one
  bool may_sieve_writes = true;      // no other process writes into the holes of a task
  bool may_bypass_cache = false;     // the file can be transferred past the page cache
  bool is_coherent = true;           // as the file is: each node finds writes of others at once
  std::size_t nodes = 1;             // that the tasks are on
  std::size_t most_aggregators = 0;  // 0: nothing is aggregated

 private:
  void join_extents(const GroupAccess& next);
};

// "interleaved: 4 tasks, 400 runs of 1.0 KiB, density 0.50, memory in 400 pieces"
std::string describe(const GroupAccess& access);

}  // namespace thalweg
