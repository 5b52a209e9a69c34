#include "engine/transfer/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/transfer/staging_pool.hpp"
#include "engine/transfer/steps.hpp"

namespace thalweg {

namespace {

constexpr std::chrono::microseconds kWait{1000};

// A step in flight.
struct Slot {
  Step step;
  StagingBuffer staging;
  Piece staged;  // the part of the staging buffer that is transferred
  IoTransfer io;
  RangeLock::Hold hold;  // of a write
  bool busy = false;
};

void wait_for_queue(void* subject) { static_cast<const IoTransfer*>(subject)->queue->wait(kWait); }

// co_await: the queue has taken the transfer; the transfer is done.
WaitPoint submitted(IoTransfer& io) {
  const auto try_submit = [](void* subject) {
    auto& wanted = *static_cast<IoTransfer*>(subject);
    if (wanted.queue->submit(wanted)) return true;
    wanted.queue->poll();
    return wanted.queue->submit(wanted);
  };
  return {try_submit, wait_for_queue, &io};
}
WaitPoint done(IoTransfer& io) {
  const auto is_done = [](void* subject) {
    const auto& wanted = *static_cast<const IoTransfer*>(subject);
    if (!wanted.done) wanted.queue->poll();
    return wanted.done;
  };
  return {is_done, wait_for_queue, &io};
}

Status no_memory_for(const TransferTask& task) {
  return or_out_of_memory([&] {
    return Status::error(Code::no_memory, "no memory to arrange a transfer of '{}'", task.file->stored->path());
  });
}

class Worker {
 public:
  explicit Worker(const TransferTask& task) : task_(task), steps_(task), slots_(std::max(task.depth, 1U)) {}

  Slot& oldest() { return slots_[n_ % slots_.size()]; }
  void advance() { ++n_; }
  std::size_t n_slots() const { return slots_.size(); }

  // Makes the next step and the transfer for it. False: there is none, or result() has the failure.
  bool prepare(Slot& slot) {
    try {
      if (!steps_.next(slot.step)) return false;
      if (slot.step.staged && slot.staging.size() < slot.step.bytes()) {
        auto staging = take_staging(std::max(steps_.staging_bytes(), slot.step.bytes()));
        if (!staging.has_value()) return fail(staging.error());
        slot.staging = std::move(staging).value();
      }
    } catch (const std::bad_alloc&) {
      return fail(no_memory_for(task_));
    }
    Step& step = slot.step;
    if (step.staged) slot.staged = {slot.staging.data(), step.bytes()};
    if (step.staged && writes() && !step.sieved) gather_into(slot.staging.data(), step);
    slot.io = {.file = task_.file->stored.get(),
               .queue = task_.queue,
               .direction = task_.direction,
               .direct = step.direct,
               .offset = step.range.begin};
    slot.io.pieces = step.staged ? std::span<const Piece>(&slot.staged, 1) : std::span<const Piece>(step.pieces);
    return true;
  }

  // Handles a completed transfer.
  void finish(Slot& slot) {
    slot.busy = false;
    const IoTransfer& io = slot.io;
    if (writes()) task_.file->writers.unlock(slot.hold);
    if (!io.status.ok()) return static_cast<void>(fail(io.status));
    if (writes()) return;
    if (slot.step.staged) scatter_from(slot.staging.data(), slot.step, io.moved);
    if (io.moved < slot.step.bytes())
      result_.end_of_file = std::min(result_.end_of_file, slot.step.range.begin + io.moved);
  }

  // Reads the window, copies the new bytes over it, and writes it back; holds its range alone, and does not suspend.
  void rewrite(Slot& slot) {
    const auto moved = or_out_of_memory([&] { return rewrite_window(slot); });
    if (!moved.ok()) fail(moved);
  }

  bool writes() const { return task_.direction == Direction::write; }
  bool failed() const { return !result_.status.ok(); }
  TransferResult& result() { return result_; }

 private:
  Status rewrite_window(Slot& slot) {
    StoredFile& stored = *task_.file->stored;
    const std::span<const Piece> window(&slot.staged, 1);
    TW_ASSIGN_OR_RETURN(const std::uint64_t n_old, stored.transfer(Direction::read, slot.step.range.begin, window));
    std::memset(slot.staging.data() + n_old, 0, slot.step.bytes() - n_old);  // behind the end of the file
    gather_into(slot.staging.data(), slot.step);
    return stored.transfer(Direction::write, slot.step.range.begin, window).status();
  }
  bool fail(const Status& status) {
    if (result_.status.ok()) result_.status = status;
    return false;
  }

  const TransferTask& task_;
  StepMaker steps_;
  std::vector<Slot> slots_;
  std::size_t n_ = 0;
  TransferResult result_;
};

Status make_worker(TransferTask& task, std::optional<Worker>& worker) try {
  if (task.direct && task.direction == Direction::read) {
    TW_ASSIGN_OR_RETURN(task.file_end, task.file->stored->size());
  }
  worker.emplace(task);
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_for(task);
}

}  // namespace

bool RangeLock::try_lock(Hold& hold) {
  const std::lock_guard guard(mutex_);
  for (const Hold* other = first_; other != nullptr; other = other->after_) {
    const bool apart = other->range.end <= hold.range.begin || hold.range.end <= other->range.begin;
    if (!apart && (hold.exclusive || other->exclusive)) return false;
  }
  hold.after_ = first_;
  first_ = &hold;
  return true;
}

void RangeLock::unlock(Hold& hold) {
  const std::lock_guard guard(mutex_);
  Hold** at = &first_;
  while (*at != &hold) at = &(*at)->after_;
  *at = hold.after_;
}

WaitPoint RangeLock::locked(Hold& hold) {
  hold.lock_ = this;
  const auto ready = [](void* subject) {
    auto& wanted = *static_cast<Hold*>(subject);
    return wanted.lock_->try_lock(wanted);
  };
  return {ready, nullptr, &hold};
}

Op<TransferResult> transfer_at_once(SharedFile& file, IoQueue& queue, Direction direction, FileDomain range,
                                    std::span<const Piece> pieces) {
  const bool writes = direction == Direction::write;
  RangeLock::Hold hold;
  hold.range = range;
  if (writes) co_await file.writers.locked(hold);
  IoTransfer io{
      .file = file.stored.get(), .queue = &queue, .direction = direction, .offset = range.begin, .pieces = pieces};
  co_await submitted(io);
  co_await done(io);
  if (writes) file.writers.unlock(hold);
  TransferResult result{.status = std::move(io.status)};
  if (!writes && result.status.ok() && io.moved < range.end - range.begin) result.end_of_file = range.begin + io.moved;
  co_return result;
}

Op<Status> carry_out(std::function<Status()> work, IoQueue& queue) {
  IoTransfer io{.queue = &queue, .work = std::move(work)};
  co_await submitted(io);
  co_await done(io);
  co_return std::move(io.status);
}

Op<TransferResult> transfer(TransferTask task) {
  std::optional<Worker> made;
  if (Status status = make_worker(task, made); !status.ok()) co_return TransferResult{.status = std::move(status)};
  Worker& worker = *made;
  while (true) {
    Slot& slot = worker.oldest();
    if (slot.busy) {
      co_await done(slot.io);
      worker.finish(slot);
    }
    if (worker.failed() || !worker.prepare(slot)) break;
    if (worker.writes()) {
      slot.hold.range = slot.step.range;
      slot.hold.exclusive = slot.step.sieved;
      co_await task.file->writers.locked(slot.hold);
      if (slot.step.sieved) {
        worker.rewrite(slot);
        task.file->writers.unlock(slot.hold);
        continue;
      }
    }
    co_await submitted(slot.io);
    slot.busy = true;
    worker.advance();
  }
  for (std::size_t i = 0; i < worker.n_slots(); ++i, worker.advance()) {
    Slot& slot = worker.oldest();
    if (!slot.busy) continue;
    co_await done(slot.io);
    worker.finish(slot);
  }
  co_return std::move(worker.result());
}

}  // namespace thalweg
