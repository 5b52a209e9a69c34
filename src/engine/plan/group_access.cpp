#include "engine/plan/group_access.hpp"

#include <algorithm>

namespace thalweg {

namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return a + std::min(b, ~std::uint64_t{0} - a); }

// The extents of a task of an access in order, as if no task before it had a byte.
ExtentSummary from_zero(ExtentSummary extents) {
  extents.begin = 0;
  extents.end = extents.bytes;
  extents.runs = extents.close_runs = extents.n > 0 ? 1 : 0;
  extents.close_bytes = extents.bytes;
  extents.sorted = extents.disjoint = true;
  return extents;
}

// The difference between two tasks in arguments that must agree.
GroupAccess::Difference difference_of(const AccessSummary& a, const AccessSummary& b) {
  using enum GroupAccess::Difference;
  if (a.direction != b.direction) return direction;
  if (a.common != b.common) return common;
  if (a.in_order != b.in_order) return order;
  if (a.file != b.file) return file;
  if (!a.common) return none;
  const bool same = a.extents.n == b.extents.n && a.extents.bytes == b.extents.bytes &&
                    a.extents.begin == b.extents.begin && a.extents.end == b.extents.end &&
                    (a.extents.n != 1 || a.memory == b.memory);
  return same ? none : arguments;
}

// Rank order may be file order or its reverse. Tasks of one run each have one distance; tasks of several runs may begin
// anywhere behind the one before.
void join_shape(GroupAccess& all, const GroupAccess& next) {
  all.rising = all.rising && next.rising && next.head.begin >= all.tail.end;
  all.falling = all.falling && next.falling && next.head.end <= all.tail.begin;
  const bool same_runs =
      all.run_bytes == next.run_bytes && (all.stride == 0 || next.stride == 0 || all.stride == next.stride);
  all.regular = all.regular && next.regular && same_runs;
  if (all.stride == 0) all.stride = next.stride;
  const auto join_distance = [&](std::uint64_t distance) {
    if (all.distance != 0 && distance != 0 && distance != all.distance) all.regular = false;
    if (all.distance == 0) all.distance = distance;
  };
  if (all.tail_is_run && next.head_is_run) join_distance(next.head.begin - all.tail.begin);
  join_distance(next.distance);
}

}  // namespace

GroupAccess::GroupAccess(const AccessSummary& task, std::int64_t rank, Call call)
    : calls(call, rank),
      first(task),
      tasks(1),
      first_task(rank),
      any_failed(task.failed),
      has_lists(task.extents.n > 1),
      whole_blocks(task.whole_blocks) {
  const ExtentSummary extents = task.in_order ? from_zero(task.extents) : task.extents;
  bytes = most_bytes = extents.bytes;
  if (bytes == 0) return;
  begin = extents.begin;
  end = extents.end;
  runs = extents.runs;
  pieces = extents.pieces;
  close_bytes = extents.close_bytes;
  close_runs = extents.close_runs;
  head = tail = {begin, end};
  head_is_run = tail_is_run = runs == 1;
  run_bytes = bytes / runs;
  stride = runs > 1 ? extents.stride : 0;
  overlapping = bytes > end - begin || (extents.sorted && !extents.disjoint);
  regular = (runs == 1 || stride != 0) && run_bytes * runs == bytes;
}

void GroupAccess::join(const GroupAccess& next) {
  if (next.tasks == 0) return;
  if (tasks == 0) {
    *this = next;
    return;
  }
  if (difference == Difference::none) {
    difference = difference_of(first, next.first);
    differing_task = next.first_task;
    if (difference == Difference::none && next.difference != Difference::none) {
      difference = next.difference;
      differing_task = next.differing_task;
    }
  }
  calls.join(next.calls);
  tasks += next.tasks;
  any_failed = any_failed || next.any_failed;
  has_lists = has_lists || next.has_lists;
  whole_blocks = whole_blocks && next.whole_blocks;
  if (common()) return;
  if (in_order() && next.bytes > 0) {
    GroupAccess behind = next;
    behind.shift(bytes);
    return join_extents(behind);
  }
  join_extents(next);
}

void GroupAccess::join_extents(const GroupAccess& next) {
  if (next.bytes == 0) return;
  if (bytes == 0) {
    begin = next.begin;
    head = next.head;
    head_is_run = next.head_is_run;
    run_bytes = next.run_bytes;
    stride = next.stride;
    distance = next.distance;
    rising = next.rising;
    falling = next.falling;
    regular = next.regular;
  } else {
    join_shape(*this, next);
  }
  tail = next.tail;
  tail_is_run = next.tail_is_run;
  begin = std::min(begin, next.begin);
  end = std::max(end, next.end);
  bytes = saturating_sum(bytes, next.bytes);
  runs += next.runs;
  pieces += next.pieces;
  close_bytes = saturating_sum(close_bytes, next.close_bytes);
  close_runs += next.close_runs;
  most_bytes = std::max(most_bytes, next.most_bytes);
  overlapping = overlapping || next.overlapping;
}

void GroupAccess::shift(std::uint64_t bytes_before) {
  for (std::uint64_t* offset : {&begin, &end, &head.begin, &head.end, &tail.begin, &tail.end}) *offset += bytes_before;
}

Status GroupAccess::mismatch() const {
  if (difference == Difference::none) return {};
  static constexpr const char* kTexts[] = {"",
                                           "differ: one reads, one writes",
                                           "differ: one gives common arguments, one its own",
                                           "differ: one goes by the shared position, one by offsets",
                                           "name different files",
                                           "give different arguments where they must be common"};
  return Status::error(Code::invalid_argument, "tasks {} and {} of one collective access {}", first_task,
                       differing_task, kTexts[static_cast<std::size_t>(difference)]);
}

Shape GroupAccess::shape() const {
  const std::uint64_t range = end - begin;
  if (bytes == 0) return Shape::empty;
  if (overlapping || bytes > range) return Shape::overlapping;
  if (!rising && !falling) return Shape::interleaved;
  if (bytes == range) return Shape::contiguous;
  return regular ? Shape::strided : Shape::sparse;
}

double GroupAccess::density() const {
  return bytes == 0 ? 1 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(end - begin));
}

double GroupAccess::largest_share() const {
  return bytes == 0 ? 0 : static_cast<double>(most_bytes) / static_cast<double>(bytes);
}

}  // namespace thalweg
