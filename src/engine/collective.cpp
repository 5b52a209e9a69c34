// The steps of a collective access, and where a task may leave it:
//
//   0. turn      an access in order waits on task 0 for its turn at the shared position. A task alone whose access is
//                one call makes it and leaves (move_alone)
//   1. prepare   each task checks its arguments and orders its list; nothing is sent yet
//   2. gather    each task sends its AccessSummary, and all receive the same GroupAccess. Tasks that make different
//                calls at once are found here
//   3. conclude  arguments are wrong: all agree on the failure to report, and leave. No bytes: all leave
//   4. plan      each task computes the plan from the same GroupAccess, so all have the same plan
//   5. transfer  as planned (engine/execute.hpp); failures are kept
//   6. agree     the worst failure becomes that of all, and no memory of a task is touched any more
//
// Between 2 and 6 others may wait for a task, so no task returns there on its own account: what can fail on one task
// alone (memory) is allocated before 2, or its failure is kept until 6.
#include "engine/collective.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/size_units.hpp"
#include "engine/execute.hpp"
#include "engine/plan_log.hpp"
#include "engine/process_access.hpp"
#include "group/agree.hpp"
#include "group/groups.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kWorthReserving = std::uint64_t{4} << 20;

Status no_memory(const char* what) {
  return or_out_of_memory([&] { return Status::error(Code::no_memory, std::string("no memory for ") + what); });
}

// This task's part in the access. Tasks of its process read `list` until all have agreed.
struct Part {
  TaskAccess asked;
  std::vector<Extent> placed;  // copies of the extents that got their offsets here
  ExtentList list;
  AccessSummary summary;
  std::optional<ProcessAccess> process;  // where all tasks are of one process
  std::uint64_t bytes_before = 0;        // of the tasks of lower rank, of an access in order
  Status status;                         // a failure to be agreed on in the end
  Outcome outcome;                       // from the gather on with the access of the group
};

Outcome failed_with(Status status) { return {.status = std::move(status)}; }

bool one_process(const Group& group) { return group.place().processes == 1; }

// Gives extents that are placed one behind the other their offsets, from `offset` on.
Status place_from(std::span<const Extent> given, std::uint64_t offset, std::vector<Extent>& placed) {
  if (offset > kMostOffset) return Status::error(Code::out_of_range, "offset {} is above 2^63-1", offset);
  placed.clear();
  placed.reserve(given.size());
  std::uint64_t at = offset;
  for (const Extent& extent : given) {
    if (extent.bytes > kMostOffset - at)
      return Status::error(Code::out_of_range, "extent {} of {} bytes ends above 2^63-1 when placed from offset {}",
                           placed.size(), extent.bytes, offset);
    placed.push_back({extent.memory, extent.bytes, at});
    at += extent.bytes;
  }
  return {};
}

// Orders the extents of the task; those that are placed one behind the other begin at `base`.
Status order_list(Part& part, std::uint64_t base) {
  std::span<const Extent> extents = part.asked.extents;
  if (part.asked.placement != Placement::at_extents) {
    TW_RETURN_IF_ERROR(place_from(extents, base, part.placed));
    extents = part.placed;
  }
  TW_ASSIGN_OR_RETURN(part.list, ExtentList::of(extents));
  return {};
}

bool in_whole_blocks(const SharedFile& file, const Part& part) {
  const std::uint64_t block = std::max<std::uint64_t>({file.direct_alignment, kCachePage, file.page_bytes});
  const auto whole = [&](const Extent& extent) { return extent.offset % block == 0 && extent.bytes % block == 0; };
  const auto extents = part.list.extents();
  return part.asked.placement != Placement::in_order && std::all_of(extents.begin(), extents.end(), whole);
}

Status check(const SharedFile* file, const Group& group, Part& part) {
  const TaskAccess& asked = part.asked;
  if (!asked.status.ok()) return asked.status;
  if (file == nullptr) return Status::error(Code::invalid_argument, "no open file");
  TW_RETURN_IF_ERROR(check_mode(*file, asked.direction));
  if (one_process(group) && !try_to([&] { part.process.emplace(static_cast<std::size_t>(group.size())); }))
    return no_memory("the summaries that the tasks of a collective access send each other");
  return order_list(part, asked.placement == Placement::at_offset ? asked.offset : 0);
}

void prepare(const SharedFile* file, const Group& group, Part& part) {
  const TaskAccess& asked = part.asked;
  AccessSummary& summary = part.summary;
  part.status = or_out_of_memory([&] { return check(file, group, part); });
  summary.failed = !part.status.ok();
  summary.direction = asked.direction;
  summary.in_order = asked.placement == Placement::in_order;
  if (summary.in_order) summary.position = asked.offset;
  summary.common = asked.common;
  summary.extents = part.list.summary();
  summary.whole_blocks =
      part.status.ok() && (file->goes_direct(asked.direction) || !file->is_coherent) && in_whole_blocks(*file, part);
  if (!one_process(group)) return;  // pointers mean nothing to other processes
  summary.file = file;
  if (summary.extents.n == 1) summary.memory = part.list.extents()[0].memory;
  if (summary.extents.n > 1) summary.list = &part.list;
}

// The failure of the access of the group, if any, before step 4.
Status conclude(const Part& part) {
  const GroupAccess& access = part.outcome.access;
  // Only a task that has found the reason reports it; failures that follow from it on other tasks would hide it.
  if (access.any_failed) return part.status;
  const std::uint64_t position = access.first.position;
  if (access.difference == GroupAccess::Difference::none && access.in_order() && access.bytes > kMostOffset - position)
    return Status::error(Code::out_of_range, "the access of {} bytes ends above 2^63-1: the shared position is {}",
                         access.bytes, position);
  return access.mismatch();
}

std::uint64_t bytes_below(std::span<const Extent> extents, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (const Extent& extent : extents) sum += extent.offset < end ? std::min(extent.bytes, end - extent.offset) : 0;
  return sum;
}

// Whether to reserve storage: where it is worth a collective and covers no hole, which would not stay one.
bool pays_to_reserve(const GroupAccess& access) {
  return access.bytes >= kWorthReserving && access.bytes >= access.end - access.begin;
}

// Task 0 reserves the storage of a direct write before any task writes: writers that extend a file wait for each other.
Status reserve(SharedFile& file, const GroupAccess& access) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.stored->size());
  const std::uint64_t from = std::max(size, access.begin);
  return access.end > from ? file.stored->preallocate(from, access.end - from) : Status{};
}

// Adds properties of the group and the file, which every task has without a message.
void add_circumstances(const Group& group, const SharedFile& file, const TaskAccess& asked, GroupAccess& access) {
  access.shared_memory = one_process(group);
  // A task alone, or threads of one process, do not keep other processes away; aggregators have domains of their own.
  access.may_sieve_writes = file.one_process || !access.shared_memory;
  access.may_bypass_cache = file.goes_direct(access.direction());
  access.is_coherent = file.is_coherent;
  access.nodes = static_cast<std::size_t>(group.place().nodes);
  // Tasks of one process aggregate only where a hint asks for it.
  const bool aggregates = !access.shared_memory || file.strategy.method == Method::aggregate;
  if (aggregates && !asked.of_others)
    access.most_aggregators = access.shared_memory ? access.tasks : file.helpers->aggregators.size();
}

// Steps 4 to 6. A failure is equal on all tasks.
Op<Status> move_all(Group& group, SharedFile& file, Part& part, IoContext io) {
  GroupAccess& access = part.outcome.access;
  Plan& plan = part.outcome.plan;
  add_circumstances(group, file, part.asked, access);
  plan = choose_plan(access, file.strategy);
  if (group.rank() == 0) log_plan(file.stored->path(), access, plan);

  if (plan.past_cache && !access.reads() && pays_to_reserve(access)) {
    Status reserved;
    if (group.rank() == 0) reserved = or_out_of_memory([&] { return reserve(file, access); });
    TW_CO_RETURN_IF_ERROR(co_await agree(group, std::move(reserved)));
  }
  ProcessAccess* const process = part.process.has_value() ? &*part.process : nullptr;
  TransferResult mine = co_await execute(group, file, access, plan, part.list, process, io);
  if (!part.status.ok()) mine.status = std::move(part.status);
  const auto end = static_cast<std::int64_t>(mine.end_of_file);
  const auto agreed = co_await agree_on(group, std::move(mine.status), end, Reduction::min);
  if (agreed.has_value()) {
    part.outcome.end_of_file = static_cast<std::uint64_t>(agreed.value());
    part.outcome.moved = bytes_below(part.list.extents(), part.outcome.end_of_file);
  }
  co_return agreed.status();
}

bool needs_no_plan(const SharedFile& file, const TaskAccess& asked) {
  return is_one_call(file, asked) && check_mode(file, asked.direction).ok() && !logs_plans();
}

// All steps of a task alone whose access needs no plan.
Op<Outcome> move_alone(SharedFile& file, TaskAccess asked, IoContext io) {
  const Piece piece{asked.extents[0].memory, asked.extents[0].bytes};
  Outcome outcome;
  GroupAccess& access = outcome.access;
  access.tasks = access.runs = access.pieces = 1;
  access.bytes = piece.bytes;
  access.begin = asked.begin();
  access.end = access.begin + piece.bytes;
  outcome.plan = {.method = Method::direct, .reason = "a task alone makes one call"};
  if (file.strategy.wants_direct(asked.direction == Direction::read)) outcome.plan.cached_as = kNoDirectIo;
  TransferResult result = co_await execute_one_call(file, asked, piece, io);
  outcome.status = std::move(result.status);
  outcome.end_of_file = std::min(result.end_of_file, kMostOffset);
  if (outcome.status.ok()) outcome.moved = std::min(piece.bytes, outcome.end_of_file - access.begin);
  co_return outcome;
}

// Step 2. A failure is equal on all tasks.
Op<Status> gather(Group& group, Part& part) {
  GroupAccess& access = part.outcome.access;
  if (one_process(group)) {
    const ByteView mine{reinterpret_cast<const std::byte*>(&part.summary), sizeof part.summary};
    TW_CO_ASSIGN_OR_RETURN(const auto all, co_await group.allgather(mine));
    // A task without memory for the summaries of all tasks sets `failed` in its own, which fails the access.
    if (!part.process.has_value()) {
      access = GroupAccess(part.summary, group.rank());
      co_return Status{};
    }
    access = part.process->read(all);
    part.bytes_before = part.process->bytes_before(static_cast<std::size_t>(group.rank()));
    co_return Status{};
  }
  const Call call = group.call() != Call::none ? group.call() : Call::tw_file_access_all;
  access = GroupAccess(part.summary, group.rank(), call);
  GroupAccess before;
  Status status = co_await group.fold(&access, &before, folding_of<GroupAccess>());
  if (status.ok() && access.calls.differ()) status = end_out_of_step(group, access.calls);
  part.bytes_before = before.bytes;
  co_return status;
}

// Puts the list of an access in order at its place. One extent needs no memory for that. Lists are read by other tasks,
// which must wait until all lists are in place.
Op<Status> place_in_order(Group& group, SharedFile& file, Part& part) {
  GroupAccess& access = part.outcome.access;
  const std::uint64_t base = access.first.position;
  if (!one_process(group) && group.rank() != 0) file.position.settle(access.first.ticket, base + access.bytes);
  const std::uint64_t begin = base + (access.common() ? 0 : part.bytes_before);
  Status placed = or_out_of_memory([&] { return order_list(part, begin); });
  if (access.has_lists) {
    TW_CO_RETURN_IF_ERROR(co_await agree(group, std::move(placed)));
  } else if (!placed.ok()) {
    // This task has only empty extents beside at most one, and no other task reads its list.
    part.list = {};
    part.status = std::move(placed);
  }
  access.shift(base);
  if (part.process.has_value()) part.process->place_in_order(base);
  co_return Status{};
}

}  // namespace

Status check_mode(const SharedFile& file, Direction direction) {
  const bool may = direction == Direction::read ? file.may_read : file.may_write;
  if (may) return {};
  const bool reads = direction == Direction::read;
  return Status::failed_call(Code::wrong_mode, EBADF,  // as read(2) and write(2) have it
                             fmt::format("cannot {} '{}': it is open for {} only", reads ? "read" : "write to",
                                         file.stored->path(), reads ? "writing" : "reading"));
}

Op<Outcome> access_all(Group& group, SharedFile* file, TaskAccess asked, SharedPosition::Ticket ticket, IoContext io) {
  const bool draws = group.rank() == 0 && asked.placement == Placement::in_order && file != nullptr;
  if (draws) {
    PositionTurn turn{group, file->position, ticket};
    co_await turn.point();
    asked.offset = file->position.value();
  }
  if (group.size() == 1 && file != nullptr && needs_no_plan(*file, asked)) {
    Status status = co_await group.barrier();  // fails where the group has ended
    if (draws) file->position.settle(ticket, asked.offset + (status.ok() ? asked.extents[0].bytes : 0));
    if (!status.ok()) co_return failed_with(std::move(status));
    co_return co_await move_alone(*file, std::move(asked), io);
  }
  Part part;
  part.asked = std::move(asked);
  prepare(file, group, part);
  if (draws) part.summary.ticket = ticket;
  Status status = co_await gather(group, part);
  if (!status.ok()) {
    if (draws) file->position.settle(ticket, part.summary.position);
    co_return failed_with(std::move(status));
  }

  // From here on all tasks have the same GroupAccess; a task without the memory for it has at least its own failure.
  const GroupAccess& access = part.outcome.access;
  status = or_out_of_memory([&] { return conclude(part); });
  const bool goes_on = status.ok() && !access.any_failed;
  if (draws) file->position.settle(ticket, part.summary.position + (goes_on ? access.bytes : 0));
  if (!goes_on) {
    status = co_await agree(group, std::move(status));
    co_return failed_with(std::move(status));
  }
  if (access.in_order()) {
    status = co_await place_in_order(group, *file, part);
    if (!status.ok()) co_return failed_with(std::move(status));
  }
  if (access.bytes == 0) {
    part.outcome.plan.reason = "no task has a byte";
    co_return std::move(part.outcome);
  }
  part.outcome.status = co_await move_all(group, *file, part, io);
  co_return std::move(part.outcome);
}

Op<Outcome> access_one(SharedFile& file, TaskAccess asked, IoContext io) {
  // This task has drawn no ticket, so it must not wait for its turn.
  if (asked.placement == Placement::in_order) {
    if (asked.status.ok())
      asked.status = Status::error(Code::invalid_argument, "TW_IN_ORDER is for collective accesses");
    asked.placement = Placement::at_extents;
  }
  if (needs_no_plan(file, asked)) co_return co_await move_alone(file, std::move(asked), io);
  std::unique_ptr<Group> alone;
  if (!try_to([&] { alone = make_self_group(); })) co_return failed_with(no_memory("an access"));
  co_return co_await access_all(*alone, &file, std::move(asked), 0, io);
}

}  // namespace thalweg
