// How the access of a whole group lies in the file and in memory: the facts that a plan is chosen by.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "extent/extent.hpp"

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
  std::uint64_t runs = 0;    // sum over tasks
  std::uint64_t pieces = 0;  // sum over tasks
  double density = 1;        // bytes / (end - begin), at most 1
  double largest_share = 0;  // of the task with most bytes, 0..1
};

// `of_task[i]` is the summary of task i, in rank order. Linear in the number of tasks.
Pattern classify(std::span<const ExtentSummary> of_task);

// "interleaved: 4 tasks, 400 runs of 1.0 KiB, density 0.50, memory in 400 pieces"
std::string describe(const Pattern& pattern, std::size_t tasks);

}  // namespace thalweg
