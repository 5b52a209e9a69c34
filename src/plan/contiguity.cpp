#include "plan/contiguity.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "plan/text.hpp"

namespace thalweg {

namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

// Looks at the tasks that move something, in rank order. Rank order may be file order or its reverse.
class TaskWatch {
 public:
  void add(const ExtentSummary& task) {
    if (task.bytes > task.end - task.begin || (task.sorted && !task.disjoint)) overlapping_ = true;
    look_at_runs(task);
    if (n_ > 0) look_at_distance(task);
    last_ = task;
    ++n_;
  }
  bool overlapping() const { return overlapping_; }
  bool one_behind_the_other() const { return rising_ || falling_; }
  bool strided() const { return regular_; }

 private:
  // Equal runs at one distance within each task.
  void look_at_runs(const ExtentSummary& task) {
    if (task.runs > 1 && task.stride == 0) regular_ = false;
    const std::uint64_t run = task.bytes / task.runs;
    if (n_ == 0) run_bytes_ = run;
    if (run != run_bytes_ || run * task.runs != task.bytes) regular_ = false;
    if (task.runs > 1) {
      if (stride_ == 0) stride_ = task.stride;
      if (task.stride != stride_) regular_ = false;
    }
  }
  // Tasks of one run each have the distance between them; other tasks may begin anywhere behind the one before.
  void look_at_distance(const ExtentSummary& task) {
    if (task.begin < last_.end) rising_ = false;
    if (task.end > last_.begin) falling_ = false;
    if (task.runs > 1 || last_.runs > 1) return;
    const std::uint64_t distance = rising_ ? task.begin - last_.begin : last_.begin - task.begin;
    if (distance_ == 0) distance_ = distance;
    if (distance != distance_) regular_ = false;
  }

  std::uint64_t n_ = 0;
  ExtentSummary last_;
  bool overlapping_ = false, rising_ = true, falling_ = true, regular_ = true;
  std::uint64_t run_bytes_ = 0, stride_ = 0, distance_ = 0;
};

Shape shape_of(const Pattern& pattern, const TaskWatch& tasks) {
  if (pattern.bytes == 0) return Shape::empty;
  const std::uint64_t range = pattern.end - pattern.begin;
  if (tasks.overlapping() || pattern.bytes > range) return Shape::overlapping;
  if (!tasks.one_behind_the_other()) return Shape::interleaved;
  if (pattern.bytes == range) return Shape::contiguous;
  return tasks.strided() ? Shape::strided : Shape::sparse;
}

}  // namespace

const char* shape_name(Shape shape) {
  switch (shape) {
    case Shape::empty:
      return "empty";
    case Shape::contiguous:
      return "contiguous";
    case Shape::strided:
      return "strided";
    case Shape::interleaved:
      return "interleaved";
    case Shape::sparse:
      return "sparse";
    case Shape::overlapping:
      return "overlapping";
  }
  return "unknown";
}

Pattern classify(std::span<const ExtentSummary> of_task) {
  Pattern all;
  TaskWatch tasks;
  std::uint64_t most = 0;
  for (const ExtentSummary& task : of_task) {
    if (task.bytes == 0) continue;
    all.begin = all.bytes == 0 ? task.begin : std::min(all.begin, task.begin);
    all.end = std::max(all.end, task.end);
    all.bytes = saturating_sum(all.bytes, task.bytes);
    all.runs += task.runs;
    all.pieces += task.pieces;
    if (task.memory_runs > 1) all.memory_contiguous = false;
    most = std::max(most, task.bytes);
    tasks.add(task);
  }
  all.shape = shape_of(all, tasks);
  if (all.bytes == 0) return all;
  const auto bytes = static_cast<double>(all.bytes);
  all.density = std::min(1.0, bytes / static_cast<double>(all.end - all.begin));
  all.largest_share = static_cast<double>(most) / bytes;
  return all;
}

std::string describe(const Pattern& pattern, std::size_t tasks) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::string text =
      std::string(shape_name(pattern.shape)) + ": " + std::to_string(tasks) + (tasks == 1 ? " task" : " tasks");
  if (pattern.bytes == 0) return text;
  const double run_bytes =
      static_cast<double>(pattern.bytes) / static_cast<double>(std::max<std::uint64_t>(1, pattern.runs));
  text += ", " + std::to_string(pattern.runs) + (pattern.runs == 1 ? " run of " : " runs of ") +
          scaled_text(run_bytes, 1024, kUnits) + ", density " + decimal_text(pattern.density, 2) + ", memory in " +
          std::to_string(pattern.pieces) + (pattern.pieces == 1 ? " piece" : " pieces");
  return text;
}

}  // namespace thalweg
