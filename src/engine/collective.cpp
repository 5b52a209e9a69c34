// The steps of a collective access, and who may leave where:
//
//   1. prepare   each task checks its arguments and orders its list; nobody has heard of anybody
//   2. gather    each shows a summary and where its list lies. From here on all know the same. Tasks that make another
//                call at once are found here
//   3. conclude  wrong arguments: all agree on whose failure to tell and leave. No bytes: all leave
//   4. plan      computed by each from the same facts, so the same on all
//   5. transfer  as the plan says; failures are kept
//   6. agree     the worst failure is that of all, and the memory of each may be touched no more
//
// Between 2 and 6 others may wait for a task, so that nobody returns there on its own account: what can fail for one
// task alone (memory) is had before 2, or kept until 6.
#include "engine/collective.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/size_units.hpp"
#include "engine/execute.hpp"
#include "engine/placing.hpp"
#include "engine/plan_log.hpp"
#include "engine/planning.hpp"
#include "engine/progress/request.hpp"
#include "engine/shown.hpp"
#include "group/agree.hpp"
#include "group/groups.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kWorthReserving = std::uint64_t{4} << 20;

Status no_memory(const char* what) {
  return or_out_of_memory([&] { return Status::error(Code::no_memory, std::string("no memory for ") + what); });
}

// This task's own part. Others read `list` until all have agreed.
struct Part {
  Access access;
  std::vector<Extent> placed;  // copies that got their offsets here
  ExtentList list;
  Shown shown;
  Facts facts;
  std::optional<Whole> whole;  // where all tasks are of one process
  std::uint64_t base = 0;      // of an access in order, and the bytes of tasks of lower rank
  std::uint64_t ahead = 0;
  Status status;
};

bool one_process(const Group& group) { return group.place().processes == 1; }

Status make_whole(std::size_t tasks, Part& part) {
  try {
    part.whole.emplace(tasks);
    return {};
  } catch (const std::bad_alloc&) {
    return no_memory("what the tasks of a collective access show each other");
  }
}

bool goes_direct(const SharedFile& file, Direction direction) {
  const bool wanted = direction == Direction::read ? file.strategy.direct_reads : file.strategy.direct_writes;
  return wanted && file.direct_alignment > 0;
}

bool in_whole_blocks(const SharedFile& file, const Part& part) {
  const std::uint64_t block = std::max<std::uint64_t>(file.direct_alignment, kCachePage);
  const auto whole = [&](const Extent& extent) { return extent.offset % block == 0 && extent.bytes % block == 0; };
  const auto extents = part.list.extents();
  return part.access.placement != Placement::in_order && std::all_of(extents.begin(), extents.end(), whole);
}

Status check(const SharedFile* file, const Group& group, Part& part) {
  const Access& access = part.access;
  if (!access.status.ok()) return access.status;
  if (file == nullptr) return Status::error(Code::invalid_argument, "no open file");
  TW_RETURN_IF_ERROR(check_mode(*file, access.direction));
  if (one_process(group)) TW_RETURN_IF_ERROR(make_whole(static_cast<std::size_t>(group.size()), part));
  return order_list(access, access.placement == Placement::at_offset ? access.offset : 0, part.placed, part.list);
}

void prepare(const SharedFile* file, const Group& group, Part& part) {
  const Access& access = part.access;
  part.status = or_out_of_memory([&] { return check(file, group, part); });
  part.shown.file = file;
  part.shown.code = static_cast<std::int16_t>(part.status.code());
  part.shown.direction = access.direction;
  part.shown.placement = access.placement;
  part.shown.common = access.common;
  part.shown.summary = part.list.summary();
  part.shown.list = &part.list;
  if (part.shown.summary.n == 1) part.shown.list = part.list.extents()[0].memory;
  part.shown.whole_blocks = part.status.ok() && goes_direct(*file, access.direction) && in_whole_blocks(*file, part);
}

// What is wrong with the access of the group, as every task sees it.
Status conclude(const Part& part) {
  // Who knows a reason of his own tells it; what the others make of it would only hide it.
  if (part.facts.any_wrong()) return part.status;
  Status wrong = part.facts.mismatch();
  if (wrong.ok() && part.facts.in_order() && part.facts.bytes() > kMostOffset - part.base)
    wrong = Status::error(Code::out_of_range, "the access of " + std::to_string(part.facts.bytes()) +
                                                  " bytes ends above 2^63-1: the shared position is " +
                                                  std::to_string(part.base));
  return wrong;
}

std::uint64_t bytes_below(std::span<const Extent> extents, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (const Extent& extent : extents) sum += extent.offset < end ? std::min(extent.bytes, end - extent.offset) : 0;
  return sum;
}

}  // namespace

Status check_mode(const SharedFile& file, Direction direction) {
  const bool may = direction == Direction::read ? file.may_read : file.may_write;
  if (may) return {};
  const char* verb = direction == Direction::read ? "cannot read '" : "cannot write to '";
  const char* open_for =
      direction == Direction::read ? "': it is open for writing only" : "': it is open for reading only";
  return Status::error(Code::wrong_mode, verb + file.stored->path() + open_for,
                       EBADF);  // as read(2) and write(2) have it
}

namespace {

// Storage is reserved where that is worth a meeting and nothing but what is written; holes stay holes.
bool pays_to_reserve(const Pattern& pattern) {
  return pattern.bytes >= kWorthReserving && pattern.bytes >= pattern.end - pattern.begin;
}

// Task 0 reserves what a direct write will need, before anybody writes: writers that extend a file wait for each other.
Status reserve(SharedFile& file, const Pattern& pattern) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.stored->size());
  const std::uint64_t from = std::max(size, pattern.begin);
  return pattern.end > from ? file.stored->preallocate(from, pattern.end - from) : Status{};
}

// Steps 4 to 6.
Op<Outcome> move_all(Group& group, SharedFile& file, Part& part, IoContext io) {
  Outcome outcome;
  const Direction direction = part.access.direction;
  outcome.tasks = static_cast<std::size_t>(group.size());
  outcome.pattern = part.facts.pattern(part.base);
  PlanInput facts;
  facts.pattern = outcome.pattern;
  facts.direction = direction;
  facts.tasks = outcome.tasks;
  facts.shared_memory = one_process(group);
  // A task alone, or threads of one process, do not keep other processes away; aggregators have domains of their own.
  facts.may_sieve_writes = file.one_process || !facts.shared_memory;
  facts.common = part.facts.common();
  facts.nodes = static_cast<std::size_t>(group.place().nodes);
  // Tasks of one process have no need of it: there it is for those who ask.
  const bool aggregates = !facts.shared_memory || file.strategy.method == Method::aggregate;
  if (aggregates && !part.access.of_others)
    facts.most_aggregators = facts.shared_memory ? facts.tasks : file.helpers->aggregators.size();
  // One task moves what is common.
  const bool whole_blocks = part.facts.common() || part.facts.in_whole_blocks();
  outcome.plan = plan_access(file.strategy, facts, {goes_direct(file, direction), whole_blocks});
  if (group.rank() == 0) log_plan(file.stored->path(), facts, outcome.plan);

  if (outcome.plan.past_cache && direction == Direction::write && pays_to_reserve(outcome.pattern)) {
    Status reserved;
    if (group.rank() == 0) reserved = or_out_of_memory([&] { return reserve(file, outcome.pattern); });
    outcome.status = co_await agree(group, std::move(reserved));
    if (!outcome.status.ok()) co_return outcome;
  }
  const Execution what{&file,        &part.list, part.whole.has_value() ? &*part.whole : nullptr,
                       part.facts,   part.base,  direction,
                       outcome.plan, io};
  TransferResult mine = co_await execute(what, group);
  if (!part.status.ok()) mine.status = std::move(part.status);
  const auto end = static_cast<std::int64_t>(mine.end_of_file);
  Agreement agreed = co_await agree_on_largest(group, std::move(mine.status), -end);
  outcome.status = std::move(agreed.status);
  if (outcome.status.ok()) {
    outcome.end_of_file = static_cast<std::uint64_t>(-agreed.largest);
    outcome.moved = bytes_below(part.list.extents(), outcome.end_of_file);
  } else {
    file.failed.store(true, std::memory_order_relaxed);
  }
  co_return outcome;
}

// Step 2. A failure is that of all.
Op<Status> gather(Group& group, Part& part) {
  if (one_process(group)) {
    const auto shown = co_await group.allgather({reinterpret_cast<const std::byte*>(&part.shown), sizeof part.shown});
    if (!shown.has_value()) co_return shown.error();
    // A task that had no memory to know it all knows that something is wrong: it has said so.
    if (!part.whole.has_value()) {
      part.facts = Facts(part.shown, group.rank());
      co_return Status{};
    }
    part.whole->read(shown.value());
    part.facts = part.whole->facts();
    part.ahead = part.whole->bytes_before(static_cast<std::size_t>(group.rank()));
    co_return Status{};
  }
  part.shown.file = nullptr;  // addresses of other processes say nothing
  part.shown.list = nullptr;
  const Call call = group.call() != Call::none ? group.call() : Call::tw_access_all;
  part.facts = Facts(part.shown, group.rank(), call);
  Facts before;
  Status status = co_await group.fold(&part.facts, &before, Facts::folding());
  if (status.ok() && part.facts.calls().differ()) status = end_out_of_step(group, part.facts.calls());
  part.ahead = before.bytes();
  co_return status;
}

}  // namespace

Op<Outcome> access_all(Group& group, SharedFile* file, Access access, SharedPosition::Ticket ticket, IoContext io) {
  Outcome outcome;
  Part part;
  part.access = std::move(access);
  prepare(file, group, part);
  const bool draws = group.rank() == 0 && part.access.placement == Placement::in_order && file != nullptr;
  if (draws) {
    TheirTurn turn{group, file->position, ticket};
    co_await Until{turn.point()};
    part.shown.position = file->position.value();
    part.shown.ticket = ticket;
  }
  outcome.status = co_await gather(group, part);
  if (!outcome.status.ok()) {
    if (draws) file->position.settle(ticket, part.shown.position);
    if (file != nullptr) file->failed.store(true, std::memory_order_relaxed);
    co_return outcome;
  }

  // From here on all know the same, but for a task that had no memory to know it: its own shown code says so to all.
  const Facts& facts = part.facts;
  part.base = facts.position();
  Status wrong = or_out_of_memory([&] { return conclude(part); });
  const bool goes_on = wrong.ok() && !facts.any_wrong();
  if (draws) file->position.settle(ticket, part.shown.position + (goes_on ? facts.bytes() : 0));
  if (!goes_on) {
    outcome.status = co_await agree(group, std::move(wrong));
    co_return outcome;
  }
  if (facts.in_order()) {
    if (!one_process(group) && group.rank() != 0) file->position.follow(facts.ticket(), part.base + facts.bytes());
    // One extent needs no memory to be placed. Lists are read by others, who must wait until all are there.
    const std::uint64_t begin = part.base + (facts.common() ? 0 : part.ahead);
    Status placed = order_list(part.access, begin, part.placed, part.list);
    if (facts.has_lists()) {
      outcome.status = co_await agree(group, std::move(placed));
    } else if (!placed.ok()) {
      // No list but one with empty extents: what it would move is nowhere yet, and nobody else looks at it.
      part.list = {};
      part.status = std::move(placed);
    }
    if (!outcome.status.ok()) co_return outcome;
    if (part.whole.has_value()) part.whole->place_in_order(part.base);
  }
  if (facts.bytes() == 0) {
    outcome.plan.reason = "no task has a byte";
    outcome.tasks = static_cast<std::size_t>(group.size());
    co_return outcome;
  }
  co_return co_await move_all(group, *file, part, io);
}

namespace {

std::unique_ptr<Group> try_self_group() {
  try {
    return make_self_group();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Op<Outcome> access_one(SharedFile& file, Access access, IoContext io) {
  const std::unique_ptr<Group> alone = try_self_group();
  if (alone == nullptr) {
    Outcome outcome;
    outcome.status = no_memory("an access");
    co_return outcome;
  }
  // It has drawn no ticket, so it must not wait for its turn.
  if (access.placement == Placement::in_order) {
    if (access.status.ok())
      access.status = Status::error(Code::invalid_argument, "TW_IN_ORDER is for collective accesses");
    access.placement = Placement::at_extents;
  }
  co_return co_await access_all(*alone, &file, std::move(access), 0, io);
}

}  // namespace thalweg
