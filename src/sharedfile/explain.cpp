#include "sharedfile/explain.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked_math.hpp"
#include "base/size_units.hpp"
#include "engine/plan/plan.hpp"
#include "engine/transfer/transfer.hpp"
#include "sharedfile/find_aggregators.hpp"
#include "sharedfile/profile.hpp"
#include "storage/kept_check.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostTasks = 1'000'000;

Status bad(const std::string& what) { return Status::error(Code::invalid_argument, "no such access: {}", what); }

Status check_counts(const RegularAccess& access) {
  if (access.tasks < 1 || access.tasks > kMostTasks)
    return bad(fmt::format("{} tasks; 1 .. {}", access.tasks, kMostTasks));
  if (access.processes < 1 || access.processes > access.tasks)
    return bad(fmt::format("{} processes; 1 .. tasks", access.processes));
  if (access.extents > 1 && access.stride != 0 && access.stride < access.bytes)
    return bad(fmt::format("extents of {} bytes overlap at a stride of {}", access.bytes, access.stride));
  return {};
}

std::string way_of(const Strategy& strategy, const Plan& plan, std::uint32_t alignment) {
  if (plan.past_cache) {
    const std::uint64_t whole_blocks =
        std::max<std::uint64_t>(strategy.transfer_bytes / alignment * alignment, alignment);
    return fmt::format("past the page cache, {} transfers of {} in flight per worker",
                       std::max(strategy.queue_depth, 1U), exact_size(whole_blocks));
  }
  return fmt::format("through the page cache{}{}", *plan.cached_as == '\0' ? "" : ": ", plan.cached_as);
}

// The default distances of tasks follow from these numbers, too.
bool in_whole_blocks(const RegularAccess& access, std::uint32_t alignment) {
  const std::uint64_t block = std::max<std::uint64_t>(alignment, kCachePage);
  return access.bytes % block == 0 && access.stride % block == 0 && access.task_distance % block == 0;
}

std::string source_of(const StorageInfo& storage) {
  const std::string path = profile_path();
  if (path.empty()) return "profiles are turned off; defaults";
  const StorageProfile* profile = find_profile(storage.identity);
  if (profile == nullptr) return fmt::format("no profile in '{}'; defaults", path);
  const std::string when = profile->measured.empty() ? std::string() : " of " + profile->measured;
  return fmt::format("profile{} in '{}'", when, path);
}

}  // namespace

Result<GroupAccess> group_access_of(const RegularAccess& access) {
  TW_RETURN_IF_ERROR(check_counts(access));
  GroupAccess all;
  if (access.extents == 0 || access.bytes == 0) {
    all.tasks = access.tasks;
    all.first.direction = access.direction;
    all.shared_memory = access.processes == 1;
    return all;
  }
  const auto too_large = [] { return Status::error(Code::out_of_range, "the access ends above 2^63-1"); };
  const std::uint64_t stride = access.stride == 0 ? access.bytes : access.stride;
  std::uint64_t range = 0, in_turn = 0, last = 0, end = 0;  // range: bytes from the first to the last one of a task
  if (mul_overflow(access.extents - 1, stride, &last) || add_overflow(last, access.bytes, &range)) return too_large();
  if (range > kMostOffset) return too_large();
  const bool room = !mul_overflow(access.tasks, access.bytes, &in_turn) && access.extents > 1 && in_turn <= stride;
  std::uint64_t distance = access.task_distance;
  if (distance == 0) distance = room ? access.bytes : (access.extents > 1 ? access.extents * stride : access.bytes);
  if (mul_overflow(access.tasks - 1, distance, &last) || add_overflow(last, range, &end) || end > kMostOffset)
    return too_large();

  AccessSummary summary;
  summary.direction = access.direction;
  ExtentSummary& task = summary.extents;
  task.n = access.extents;
  task.bytes = access.extents * access.bytes;
  task.runs = stride == access.bytes ? 1 : access.extents;
  task.pieces = task.runs;
  task.stride = task.runs > 1 ? stride : 0;
  const bool close = stride - access.bytes <= kCloseBy;
  task.close_runs = close ? 1 : static_cast<std::uint32_t>(std::min(task.runs, std::uint64_t{~std::uint32_t{0}}));
  task.close_bytes = close ? range : task.bytes;
  for (std::uint64_t i = 0; i < access.tasks; ++i) {
    task.begin = i * distance;
    task.end = task.begin + range;
    all.join(GroupAccess(summary, static_cast<std::int64_t>(i)));
  }
  all.shared_memory = access.processes == 1;
  return all;
}

Result<std::string> explain_access(Backend& backend, const std::string& path, std::string_view hints,
                                   const RegularAccess& access) {
  TW_ASSIGN_OR_RETURN(const Strategy asked, parse_file_hints(hints));
  TW_ASSIGN_OR_RETURN(StorageInfo storage, backend.describe(path));
  if (storage.stripes.targets.empty()) storage.stripes = stripes_to_be(storage, asked_stripes(asked));  // no file yet
  TW_ASSIGN_OR_RETURN(Strategy strategy, choose_strategy(storage, hints));
  if (access.processes > 1) measure_writes(backend, path, storage, strategy);
  TW_ASSIGN_OR_RETURN(GroupAccess all, group_access_of(access));
  // All processes are taken to be on one node.
  if (access.processes > 1)
    all.most_aggregators = static_cast<std::size_t>(std::min<std::uint64_t>(access.processes, kAggregatorsOfNode));
  const std::uint32_t alignment = backend.direct_alignment_at(path);
  all.may_bypass_cache = alignment > 0;
  all.whole_blocks = in_whole_blocks(access, alignment);
  const Plan plan = choose_plan(all, strategy);
  std::string text = fmt::format("storage: {} '{}', {}{}\n", storage.kind, storage.identity, source_of(storage),
                                 storage.is_coherent ? "" : "; nodes see each other's writes after tw_file_sync()");
  const std::string stripes = describe_stripes(storage.stripes, asked_stripes(strategy), storage.kind);
  if (!stripes.empty()) text += fmt::format("layout: {}\n", stripes.substr(2));
  text += fmt::format("{}: {}\n", access.direction == Direction::read ? "read" : "write", describe(all));
  text += fmt::format("way: {}\n", way_of(strategy, plan, alignment));
  text += fmt::format("plan: {}\n", describe(plan));
  return text;
}

}  // namespace thalweg
