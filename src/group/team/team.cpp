#include "group/team/team.hpp"

#include <chrono>
#include <cstring>
#include <new>

#include "group/groups.hpp"
#include "os/backoff.hpp"

namespace thalweg {

Team::Team(std::int64_t tasks, const Team* of)
    : size_(tasks),
      roster_(of != nullptr ? of->roster_ : std::make_shared<Roster>(tasks)),
      crowded_(tasks > usable_cores()),
      slots_(2 * static_cast<std::size_t>(tasks)),
      taken_(static_cast<std::size_t>(tasks)) {}

bool Team::take_rank(TaskRank rank) { return !taken_[static_cast<std::size_t>(rank)].exchange(true); }

void Team::show(Epoch epoch, TaskRank rank, Mark mark, ByteView data) {
  Slot& mine = slot(epoch, rank);
  if (data.size() <= kInlineBytes) {
    if (!data.empty()) std::memcpy(mine.inline_data.data(), data.data(), data.size());
    return mine.show(mine.inline_data.data(), data.size(), mark);
  }
  mine.show(data.data(), data.size(), mark);
  borrowed_[epoch & 1].store(true, std::memory_order_relaxed);
}

void Team::show_address(Epoch epoch, TaskRank rank, Mark mark, const void* address) {
  slot(epoch, rank).show(address, 0, mark);
  borrowed_[epoch & 1].store(true, std::memory_order_relaxed);
}

void Team::leave(TaskRank rank) {
  TaskRank nobody = -1;
  left_.compare_exchange_strong(nobody, rank, std::memory_order_acq_rel);
}

// Each step is invertible, so that different keys have different fingerprints. They are also mixed well, so that the
// sum for several calls is hardly ever a multiple of another fingerprint.
std::uint64_t Team::fingerprint(Mark mark) {
  constexpr std::uint32_t kMask = (1U << kPrintBits) - 1;
  std::uint32_t print = (mark.key() + 1) * 0x9E3779U & kMask;
  print ^= print >> 11;
  print = print * 0xC2B2AFU & kMask;
  return print ^ print >> 13;
}

void Team::arrive(Epoch epoch, Mark mark) {
  const std::uint64_t print = fingerprint(mark);
  const std::uint64_t one = print << kCountBits | 1;
  const std::uint64_t all = arrived_.fetch_add(one, std::memory_order_acq_rel) + one;
  const auto size = static_cast<std::uint64_t>(size_);
  if ((all & ((1U << kCountBits) - 1)) != size) return;
  // The last task to arrive: all have left epoch-1, whose flags become those of epoch+1. No task arrives there before
  // the store of epoch_ below, so relaxed order is enough for the two resets.
  arrived_.store(0, std::memory_order_relaxed);
  borrowed_[(epoch + 1) & 1].store(false, std::memory_order_relaxed);
  failed_[(epoch + 1) & 1].store(false, std::memory_order_relaxed);
  const std::uint32_t verdict = all >> kCountBits == print * size ? 0 : kOutOfStep;
  epoch_.store(after(epoch) | verdict, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) futex_wake_all(epoch_);
}

bool Team::spin(Epoch epoch) const {
  return Backoff({}, crowded_).spin([&] { return passed(epoch); });
}

void Team::sleep(Epoch epoch) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t now = epoch_.load(std::memory_order_seq_cst);
  if ((now & kEpochs) == epoch) futex_wait(epoch_, now, std::chrono::milliseconds(1));
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

Result<std::shared_ptr<Team>> make_team(std::int64_t tasks) {
  if (tasks < 1 || tasks > Team::kMostTasks) {
    return Status::error(Code::invalid_argument, "cannot make a team of {} tasks; allowed are 1 to {}", tasks,
                         Team::kMostTasks);
  }
  try {
    return std::make_shared<Team>(tasks);
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "no memory for a team of {} tasks", tasks);
  }
}

}  // namespace thalweg
