// How the access of a whole group lies in the file and in memory: the facts that a plan is chosen by.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "access/extent.hpp"

namespace thalweg {

// Of the file.
//   empty        nobody moves a byte
//   contiguous   task after task, no hole: one run
//   strided      equal runs at equal distances, tasks one behind the other
//   interleaved  the ranges of tasks lie within each other, or change their order
//   sparse       holes of no regular kind, tasks one behind the other
//   overlapping  a task's own extents overlap, or more bytes are moved than lie between begin and end
enum class Shape { empty, contiguous, strided, interleaved, sparse, overlapping };
const char* shape_name(Shape shape);

struct Pattern {
  Shape shape = Shape::empty;
  bool memory_contiguous = true;  // every task has one piece of memory
  std::uint64_t bytes = 0;        // of all tasks
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t runs = 0;                         // sum over tasks
  std::uint64_t pieces = 0;                       // sum over tasks
  std::uint64_t close_bytes = 0, close_runs = 0;  // the same, going on behind short holes (ExtentSummary)
  double density = 1;                             // bytes / (end - begin), at most 1
  double largest_share = 0;                       // of the task with most bytes, 0..1
};

// What is known of the accesses of consecutive tasks: as much as it takes to know the same of two such stretches
// together. So the pattern of a group is found without any task hearing of every other one.
class PatternPart {
 public:
  PatternPart() = default;  // of no task
  explicit PatternPart(const ExtentSummary& task);
  // `next`: of the tasks that follow in rank. Associative.
  void join(const PatternPart& next);
  // All of it lies so much further behind in the file.
  void shift(std::uint64_t bytes);
  Pattern pattern() const;

 private:
  struct Stretch {
    std::uint64_t begin = 0, end = 0, runs = 0;
  };
  void join_shape(const PatternPart& next);
  Shape shape() const;

  std::uint64_t n_ = 0;  // tasks that move something; the rest holds of these
  Stretch first_, last_;
  std::uint64_t begin_ = 0, end_ = 0, bytes_ = 0, runs_ = 0, pieces_ = 0, most_ = 0;
  std::uint64_t close_bytes_ = 0, close_runs_ = 0;
  std::uint64_t run_bytes_ = 0;  // of all runs, where regular_
  std::uint64_t stride_ = 0;     // within tasks; 0: none has more than one run
  std::uint64_t distance_ = 0;   // between tasks of one run each, modulo 2^64; 0: there are no two
  bool memory_contiguous_ = true, overlapping_ = false, rising_ = true, falling_ = true, regular_ = true;
};

// `of_task[i]` is the summary of task i, in rank order. Linear in the number of tasks.
Pattern classify(std::span<const ExtentSummary> of_task);

// "interleaved: 4 tasks, 400 runs of 1.0 KiB, density 0.50, memory in 400 pieces"
std::string describe(const Pattern& pattern, std::size_t tasks);

}  // namespace thalweg
