#include "engine/execute.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "engine/naive_engine.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/transfer/one_call.hpp"
#include "engine/transfer/queues.hpp"
#include "engine/two_phase/two_phase.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kStepUnit = std::uint64_t{1} << 20;

std::uint64_t bytes_in(std::span<const ExtentList* const> lists, FileDomain domain) {
  std::uint64_t sum = 0;
  for (const ExtentList* list : lists) sum += list->bytes_before(domain.end) - list->bytes_before(domain.begin);
  return sum;
}

// Steps so large that the share of this worker fits into its part of the ring.
void put_in_flight(TransferTask& task, std::size_t workers) {
  const std::uint64_t depth = std::max<std::uint64_t>(kRingDepth / std::max<std::size_t>(workers, 4), 2);
  const std::uint64_t least = task.file->strategy.transfer_bytes;
  const std::uint64_t even = bytes_in(task.lists, task.domain) / (depth - 1) + 1;
  task.depth = static_cast<unsigned>(depth);
  task.step_bytes = std::clamp<std::uint64_t>(std::max(least, (even + kStepUnit - 1) / kStepUnit * kStepUnit), least,
                                              std::uint64_t{1} << 30);
}

// Whether callers sleep while the storage works, rather than copy.
bool sleeps(const Execution& what) { return what.plan.past_cache || what.file->strategy.costs.call_ns >= kSleepsNs; }

bool only_copies(const Execution& what) {
  return what.io.copy_queue != nullptr && what.direction == Direction::write && !sleeps(what);
}

IoQueue* background_queue_of(const Execution& what) {
  return what.io.background_queue != nullptr ? what.io.background_queue : blocking_background_queue();
}

IoQueue* queue_of(const Execution& what) {
  if (only_copies(what)) return what.io.copy_queue;
  return what.plan.past_cache ? background_queue_of(what) : what.io.queue;
}

unsigned depth_of(const Execution& what) {
  if (only_copies(what)) return 2;  // so that steps have a limit
  return what.plan.past_cache ? std::max(what.file->strategy.queue_depth, 1U) : what.io.depth;
}

TransferTask task_of(const Execution& what, std::span<const ExtentList* const> lists, FileDomain domain) {
  TransferTask task;
  task.file = what.file;
  task.queue = queue_of(what);
  task.direct = what.plan.past_cache;
  task.direction = what.direction;
  task.lists = lists;
  task.domain = domain;
  task.pack = what.plan.pack;
  task.sieve = what.plan.sieve;
  task.depth = depth_of(what);
  if (what.io.unattended && !only_copies(what)) put_in_flight(task, what.plan.workers);
  return task;
}

// Which stretch of the file this task moves.
FileDomain my_domain(std::span<const ExtentList* const> lists, const Plan& plan, const SharedFile& file,
                     std::size_t rank) {
  if (rank >= plan.workers) return {};
  if (plan.workers == 1) return {0, kEverything};
  DomainRules rules;
  rules.workers = plan.workers;
  rules.block = std::max<std::uint64_t>(file.storage.block_bytes, 1);
  return cut_domains(lists, rules)[rank];
}

// What this task has to do under `plan`.
struct Share {
  std::span<const ExtentList* const> lists;
  FileDomain domain{0, kEverything};
};

// Of a common access one of all writes, and of each process one reads.
bool moves_own(const Execution& what, const Group& group) {
  if (!what.facts.common()) return true;
  return group.rank() == (what.direction == Direction::read ? group.place().process_leader : 0);
}

Share share_of(const Execution& what, const Group& group) {
  const auto rank = static_cast<std::size_t>(group.rank());
  const auto tasks = static_cast<std::size_t>(group.size());
  Share share;
  if (what.plan.method == Method::direct) {
    if (moves_own(what, group)) share.lists = {&what.own, 1};
  } else if (what.plan.method == Method::shared) {
    share.lists = what.whole->lists(0, tasks);
    share.domain = my_domain(share.lists, what.plan, *what.file, rank);
  } else if (rank == 0) {
    share.lists = what.whole->lists(0, tasks);
  }
  return share;
}

// Common lists were compared by their sums; those that others do not move are looked at here.
Status check_common(const Execution& what) {
  if (!what.facts.common() || !what.facts.has_lists() || what.whole == nullptr) return {};
  const auto first = static_cast<const ExtentList*>(what.whole->shown(0).list)->extents();
  const auto mine = what.own->extents();
  if (std::equal(first.begin(), first.end(), mine.begin(), mine.end())) return {};
  return Status::error(Code::invalid_argument,
                       "the list of this task differs from that of task 0, and lists of a common access must not");
}

Op<TransferResult> aggregate(const Execution& what, Group& group) {
  const Pattern pattern = what.facts.pattern(what.base);
  TwoPhase phases;
  phases.group = &group;
  phases.file = what.file;
  phases.direction = what.direction;
  if (moves_own(what, group)) phases.list = what.own;
  phases.range = {pattern.begin, pattern.end};
  phases.overlapping = pattern.shape == Shape::overlapping;
  phases.n_aggregators = what.plan.workers;
  if (what.whole == nullptr) phases.known = what.file->helpers->aggregators;
  phases.queue = sleeps(what) ? background_queue_of(what) : queue_of(what);
  phases.past_cache = what.plan.past_cache;
  phases.depth = depth_of(what);
  phases.sieve = what.plan.sieve && !phases.past_cache;
  co_return co_await two_phase(phases);
}

}  // namespace

Op<TransferResult> execute(Execution what, Group& group) {
  TransferResult result;
  result.status = or_out_of_memory([&] { return check_common(what); });
  const auto call = what.whole != nullptr ? OneCall::of(*what.whole, what.plan) : std::nullopt;
  if (call.has_value()) {
    if (group.rank() != 0 || !result.status.ok()) co_return result;
    co_return co_await transfer_at_once(*what.file, *queue_of(what), what.direction, call->range(), call->pieces());
  }
  if (what.plan.method == Method::aggregate) {
    TransferResult moved = co_await aggregate(what, group);
    if (!result.status.ok()) moved.status = std::move(result.status);
    co_return moved;
  }
  if (!result.status.ok()) co_return result;
  Share share;
  try {
    share = share_of(what, group);
  } catch (const std::bad_alloc&) {
    result.status = or_out_of_memory(
        [] { return Status::error(Code::no_memory, "no memory for the plan of a collective access"); });
  }
  if (!result.status.ok() || share.lists.empty() || share.domain.empty()) co_return result;
  if (what.plan.method == Method::naive) co_return naive_transfer(*what.file, what.direction, share.lists);
  co_return co_await transfer(task_of(what, share.lists, share.domain));
}

}  // namespace thalweg
