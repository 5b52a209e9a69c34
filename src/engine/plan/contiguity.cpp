#include "engine/plan/contiguity.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "engine/plan/numbers_as_text.hpp"

namespace thalweg {

namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
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

PatternPart::PatternPart(const ExtentSummary& task) {
  if (task.bytes == 0) return;
  n_ = 1;
  first_ = last_ = {task.begin, task.end, task.runs};
  begin_ = task.begin;
  end_ = task.end;
  bytes_ = most_ = task.bytes;
  runs_ = task.runs;
  pieces_ = task.pieces;
  close_bytes_ = task.close_bytes;
  close_runs_ = task.close_runs;
  run_bytes_ = task.bytes / task.runs;
  stride_ = task.runs > 1 ? task.stride : 0;
  memory_contiguous_ = task.one_in_memory;
  overlapping_ = task.bytes > task.end - task.begin || (task.sorted && !task.disjoint);
  regular_ = (task.runs == 1 || task.stride != 0) && run_bytes_ * task.runs == task.bytes;
}

// Rank order may be file order or its reverse. Tasks of one run each have one distance; other tasks may begin anywhere
// behind the one before.
void PatternPart::join_shape(const PatternPart& next) {
  rising_ = rising_ && next.rising_ && next.first_.begin >= last_.end;
  falling_ = falling_ && next.falling_ && next.first_.end <= last_.begin;
  const bool same_runs =
      run_bytes_ == next.run_bytes_ && (stride_ == 0 || next.stride_ == 0 || stride_ == next.stride_);
  regular_ = regular_ && next.regular_ && same_runs;
  if (stride_ == 0) stride_ = next.stride_;
  const auto meet = [&](std::uint64_t distance) {
    if (distance_ != 0 && distance != 0 && distance != distance_) regular_ = false;
    if (distance_ == 0) distance_ = distance;
  };
  if (last_.runs == 1 && next.first_.runs == 1) meet(next.first_.begin - last_.begin);
  meet(next.distance_);
}

void PatternPart::join(const PatternPart& next) {
  if (next.n_ == 0) return;
  if (n_ == 0) {
    *this = next;
    return;
  }
  join_shape(next);
  n_ += next.n_;
  last_ = next.last_;
  begin_ = std::min(begin_, next.begin_);
  end_ = std::max(end_, next.end_);
  bytes_ = saturating_sum(bytes_, next.bytes_);
  runs_ += next.runs_;
  pieces_ += next.pieces_;
  close_bytes_ = saturating_sum(close_bytes_, next.close_bytes_);
  close_runs_ += next.close_runs_;
  most_ = std::max(most_, next.most_);
  memory_contiguous_ = memory_contiguous_ && next.memory_contiguous_;
  overlapping_ = overlapping_ || next.overlapping_;
}

void PatternPart::shift(std::uint64_t bytes) {
  for (Stretch* stretch : {&first_, &last_}) {
    stretch->begin += bytes;
    stretch->end += bytes;
  }
  begin_ += bytes;
  end_ += bytes;
}

Shape PatternPart::shape() const {
  const std::uint64_t range = end_ - begin_;
  if (overlapping_ || bytes_ > range) return Shape::overlapping;
  if (!rising_ && !falling_) return Shape::interleaved;
  if (bytes_ == range) return Shape::contiguous;
  return regular_ ? Shape::strided : Shape::sparse;
}

Pattern PatternPart::pattern() const {
  Pattern all;
  if (n_ == 0) return all;
  all.shape = shape();
  all.memory_contiguous = memory_contiguous_;
  all.bytes = bytes_;
  all.begin = begin_;
  all.end = end_;
  all.runs = runs_;
  all.pieces = pieces_;
  all.close_bytes = close_bytes_;
  all.close_runs = close_runs_;
  const auto bytes = static_cast<double>(bytes_);
  all.density = std::min(1.0, bytes / static_cast<double>(end_ - begin_));
  all.largest_share = static_cast<double>(most_) / bytes;
  return all;
}

Pattern classify(std::span<const ExtentSummary> of_task) {
  PatternPart all;
  for (const ExtentSummary& task : of_task) all.join(PatternPart(task));
  return all.pattern();
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
