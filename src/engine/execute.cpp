#include "engine/execute.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/plan/file_domains.hpp"
#include "engine/two_phase/two_phase.hpp"
#include "group/memory.hpp"
#include "storage/queues.hpp"

namespace thalweg {

namespace {

using Lists = std::span<const ExtentList* const>;

constexpr std::uint64_t kStepUnit = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBytesOfOneCall = std::uint64_t{256} << 10;

std::uint64_t bytes_in(Lists lists, FileDomain domain) {
  std::uint64_t sum = 0;
  for (const ExtentList* list : lists) sum += list->bytes_before(domain.end) - list->bytes_before(domain.begin);
  return sum;
}

// Makes steps so large that all transfers of this worker fit into its part of the ring at once.
void put_in_flight(TransferTask& task, std::size_t workers) {
  const std::uint64_t depth = std::max<std::uint64_t>(kRingDepth / std::max<std::size_t>(workers, 4), 2);
  const std::uint64_t least = task.file->strategy.transfer_bytes;
  const std::uint64_t even = bytes_in(task.lists, task.domain) / (depth - 1) + 1;
  task.depth = static_cast<unsigned>(depth);
  task.step_bytes = std::clamp<std::uint64_t>(std::max(least, (even + kStepUnit - 1) / kStepUnit * kStepUnit), least,
                                              std::uint64_t{1} << 30);
}

IoQueue* background_queue_of(const IoContext& io) {
  return io.background_queue != nullptr ? io.background_queue : blocking_background_queue();
}

// Whether callers sleep while the storage works, rather than copy.
bool sleeps(const SharedFile& file, bool past_cache) { return past_cache || file.strategy.costs.call_ns >= kSleepsNs; }

bool only_copies(const SharedFile& file, bool reads, bool past_cache, const IoContext& io) {
  return io.copy_queue != nullptr && !reads && !sleeps(file, past_cache);
}

// The transfers of this task under the plan; its lists and its domain come later.
TransferTask task_of(SharedFile& file, const GroupAccess& access, const Plan& plan, const IoContext& io) {
  TransferTask task;
  task.file = &file;
  task.direction = access.direction();
  task.pack = plan.pack;
  task.sieve = plan.sieve;
  task.direct = plan.past_cache;
  task.queue = io.queue;
  task.depth = io.depth;
  if (only_copies(file, access.reads(), plan.past_cache, io)) {
    task.queue = io.copy_queue;
    task.depth = 2;  // so that steps have a limit
  } else if (plan.past_cache) {
    task.queue = background_queue_of(io);
    task.depth = std::max(file.strategy.queue_depth, 1U);
  }
  return task;
}

// Common access: task 0 writes; each process leader reads.
bool moves_own(const GroupAccess& access, const Group& group) {
  return !access.common() || group.rank() == (access.reads() ? group.place().process_leader : 0);
}

// The lists and the file domain of this task. May throw std::bad_alloc.
void choose_share(const Group& group, const Plan& plan, const GroupAccess& access, const ExtentList* const& own,
                  ProcessAccess* process, TransferTask& task) {
  const auto rank = static_cast<std::size_t>(group.rank());
  // Worker i is task i * tasks / workers: spread over the tasks, and so over the NUMA nodes of bound threads.
  const auto tasks = static_cast<std::size_t>(group.size());
  const std::size_t worker = (rank * plan.workers + tasks - 1) / tasks;
  task.domain = {0, kEverything};
  if (plan.method == Method::direct) {
    if (moves_own(access, group)) task.lists = {&own, 1};
  } else if (worker < plan.workers && worker * tasks / plan.workers == rank) {
    task.lists = process->lists();
    if (plan.workers > 1)
      task.domain =
          cut_domains(task.lists, plan.workers, std::max<std::uint64_t>(task.file->storage.block_bytes, 1))[worker];
  }
}

// Lists of a common access were compared by their sums; those that no task moves are compared here.
Status check_common(const GroupAccess& access, const ExtentList& own, const ProcessAccess* process) {
  if (!access.common() || !access.has_lists || process == nullptr) return {};
  if (std::ranges::equal(process->summary(0).list->extents(), own.extents())) return {};
  return Status::error(Code::invalid_argument,
                       "the list of this task differs from that of task 0, and lists of a common access must not");
}

// The oracle that every other method is tested against: extent by extent, in rank order.
TransferResult transfer_naively(const TransferTask& task) {
  TransferResult result;
  for (const ExtentList* list : task.lists) {
    for (const Extent& extent : list->extents()) {
      const Piece piece{extent.memory, extent.bytes};
      const auto moved = or_out_of_memory([&] {
        return task.file->stored->transfer(task.direction, extent.offset, {&piece, 1});
      });
      if (!moved.has_value()) {
        result.status = moved.error();
        return result;
      }
      if (moved.value() < extent.bytes)
        result.end_of_file = std::min(result.end_of_file, extent.offset + moved.value());
    }
  }
  return result;
}

TwoPhase two_phase_of(Group& group, const GroupAccess& access, const Plan& plan, const ExtentList& own,
                      const ProcessAccess* process, TransferTask task, const IoContext& io) {
  const SharedFile& file = *task.file;
  TwoPhase phases{.group = &group, .access = &access, .n_aggregators = plan.workers};
  if (moves_own(access, group)) phases.list = &own;
  if (process == nullptr) phases.known = file.helpers->aggregators;
  task.pack = false;
  task.sieve = plan.sieve && !plan.past_cache && !access.reads();
  if (task.sieve) task.depth = 1;  // each step in flight may have a buffer of its own
  if (sleeps(file, plan.past_cache)) task.queue = background_queue_of(io);
  phases.window_task = task;
  return phases;
}

}  // namespace

bool is_one_call(const GroupAccess& access, const Plan& plan) {
  return plan.method == Method::shared && plan.workers == 1 && !plan.pack && !plan.sieve && !plan.past_cache &&
         !access.has_lists && access.tasks <= ProcessAccess::kMostPieces && access.bytes <= kMostBytesOfOneCall &&
         access.rising && access.shape() == Shape::contiguous;
}

bool is_one_call(const SharedFile& file, const TaskAccess& asked) {
  if (asked.extents.size() != 1 || !asked.status.ok()) return false;
  const Extent& only = asked.extents[0];
  return !file.goes_direct(asked.direction) && file.strategy.method.value_or(Method::direct) == Method::direct &&
         only.memory != nullptr && only.bytes > 0 && only.bytes <= kMostBytesOfOneCall &&
         asked.begin() <= kMostOffset - only.bytes;
}

Op<TransferResult> execute_one_call(SharedFile& file, const TaskAccess& asked, const Piece& piece,
                                    const IoContext& io) {
  const std::uint64_t begin = asked.begin();
  IoQueue* const queue = only_copies(file, asked.direction == Direction::read, false, io) ? io.copy_queue : io.queue;
  return transfer_at_once(file, *queue, asked.direction, {begin, begin + piece.bytes}, {&piece, 1});
}

Op<TransferResult> execute(Group& group, SharedFile& file, const GroupAccess& access, const Plan& plan,
                           const ExtentList& own, ProcessAccess* process, IoContext io) {
  TransferResult result;
  result.status = or_out_of_memory([&] { return check_common(access, own, process); });
  TransferTask task = task_of(file, access, plan, io);
  if (process != nullptr && is_one_call(access, plan)) {
    if (group.rank() != 0 || !result.status.ok()) co_return result;
    const FileDomain range{access.begin, access.end};
    std::array<Piece, ProcessAccess::kMostPieces> room;
    const std::span<const Piece> pieces = process->pieces(room);
    co_return co_await transfer_at_once(file, *task.queue, task.direction, range, pieces);
  }
  if (plan.method == Method::aggregate) {
    const TwoPhase phases = two_phase_of(group, access, plan, own, process, task, io);
    TransferResult moved = co_await two_phase(phases);
    if (!result.status.ok()) moved.status = std::move(result.status);
    co_return moved;
  }
  const ExtentList* const mine = &own;
  if (result.status.ok() && !try_to([&] { choose_share(group, plan, access, mine, process, task); }))
    result.status = out_of_memory();
  if (!result.status.ok() || task.lists.empty() || task.domain.empty()) co_return result;
  if (plan.method == Method::naive) co_return transfer_naively(task);
  if (io.unattended && !only_copies(file, access.reads(), plan.past_cache, io)) put_in_flight(task, plan.workers);
  co_return co_await transfer(task);
}

}  // namespace thalweg
