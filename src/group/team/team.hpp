// Team: the shared state of the threads of one group. An epoch barrier, and slots in which tasks publish their data.
//
// A collective is one or two epochs. In an epoch every task fills its slot, arrives, and waits until all have
// arrived; then it may read all slots. Slots are double-buffered by the parity of the epoch: a slot of epoch e is
// filled again in epoch e+2, which needs the arrival of all tasks at e+1, after they have read e. So small data,
// copied into the slot, need one epoch. Larger data stay in the memory of their task, and a second epoch keeps it in
// the collective until all have read.
//
// Comparing the calls of all tasks needs no further step: each arrival adds a fingerprint of the call to the upper
// bits of the counter of arrivals, and the last task compares the sum with its own fingerprint. The sum of two
// different calls never matches; with more than two calls, one mixture in millions does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

class Team {
 public:
  using Epoch = std::uint32_t;  // counts modulo 2^31; only compared for equality with the next one
  static constexpr std::size_t kInlineBytes = 112;
  static constexpr std::int64_t kMostTasks = 1'000'000;

  // The call of a task, and the collective of the team that serves it.
  struct Mark {
    Call call = Call::none;
    // For the threads of a hybrid group: its collective, compared in place of the call
    Primitive outer = Primitive::none;
    Primitive primitive = Primitive::none;
    constexpr std::uint32_t key() const {  // equal keys: matching calls
      const bool inner = outer != Primitive::none;
      const auto compared = inner ? 256U + static_cast<unsigned>(outer) : static_cast<unsigned>(class_of(call));
      return compared << 4 | static_cast<unsigned>(primitive);
    }
    constexpr std::uint64_t bits() const {  // 16
      return static_cast<unsigned>(call) << 8 | static_cast<unsigned>(outer) << 4 | static_cast<unsigned>(primitive);
    }
    static constexpr Mark of(std::uint64_t bits) {
      return {static_cast<Call>(bits >> 8), static_cast<Primitive>(bits >> 4 & 15), static_cast<Primitive>(bits & 15)};
    }
    const char* name() const { return call != Call::none ? name_of(call) : name_of_primitive(); }
    const char* name_of_primitive() const { return name_of(outer != Primitive::none ? outer : primitive); }
  };

  // Two cache lines of its own: neighbours do not share one, and the adjacent-line prefetcher does no harm. The task
  // writes it without reading it, since the line is in the caches of the last readers.
  struct alignas(128) Slot {
    std::array<std::byte, kInlineBytes> inline_data;
    const void* data;              // inline_data, or the owner's memory
    std::uint64_t mark_and_bytes;  // 16 and 48 bits, as addresses have
    Mark mark() const { return Mark::of(mark_and_bytes >> kBytesBits); }
    std::uint64_t bytes() const { return mark_and_bytes & ((std::uint64_t{1} << kBytesBits) - 1); }
    ByteView view() const { return {static_cast<const std::byte*>(data), bytes()}; }
    void show(const void* where, std::uint64_t bytes, Mark mark) {
      data = where;
      mark_and_bytes = mark.bits() << kBytesBits | bytes;
    }
  };

  // `of`: the team that this one duplicates. May throw std::bad_alloc.
  explicit Team(std::int64_t tasks, const Team* of = nullptr);

  Roster& roster() { return *roster_; }
  std::int64_t size() const { return size_; }
  bool take_rank(TaskRank rank);  // false when the rank is in use

  // The slot of `rank` in `epoch`. Its task writes it before it arrives; all read it after the epoch has passed.
  Slot& slot(Epoch epoch, TaskRank rank) { return slots_[(epoch & 1) * static_cast<std::size_t>(size_) + rank]; }
  // Publishes `data`: copied when small, else borrowed until the next epoch passes.
  void show(Epoch epoch, TaskRank rank, Mark mark, ByteView data);
  // Publishes an address; the object is borrowed until the next epoch passes.
  void show_address(Epoch epoch, TaskRank rank, Mark mark, const void* address);

  // Whether a task published borrowed data in `epoch`; the same answer on all tasks once it has passed.
  bool any_borrowed(Epoch epoch) const { return borrowed_[epoch & 1].load(std::memory_order_relaxed); }
  // Marks a failure while reading, before this task arrives at `epoch`; all tasks see it once that has passed.
  void mark_failed(Epoch epoch) { failed_[epoch & 1].store(true, std::memory_order_relaxed); }
  bool any_failed(Epoch epoch) const { return failed_[epoch & 1].load(std::memory_order_relaxed); }

  // This task takes part no more: its group is freed. Epochs that need it never pass.
  void leave(TaskRank rank);
  // The first task that left; negative: none.
  TaskRank who_left() const { return left_.load(std::memory_order_acquire); }

  void arrive(Epoch epoch, Mark mark);
  bool passed(Epoch epoch) const { return (epoch_.load(std::memory_order_acquire) & kEpochs) != epoch; }
  static Epoch after(Epoch epoch) { return (epoch + 1) & kEpochs; }
  // Whether all tasks made one call in this epoch, which has passed. Asked before this task arrives again, so that no
  // further epoch can have passed.
  bool in_step(Epoch epoch) const { return epoch_.load(std::memory_order_relaxed) == after(epoch); }
  // Waits without sleeping; returns whether the epoch passed.
  bool spin(Epoch epoch) const;
  // Sleeps until the epoch passes, for at most about a millisecond.
  void sleep(Epoch epoch);

 private:
  static constexpr int kBytesBits = 48;
  static constexpr std::uint32_t kEpochs = (1U << 31) - 1;
  static constexpr std::uint32_t kOutOfStep = 1U << 31;
  static constexpr int kCountBits = 20;
  static constexpr int kPrintBits = 24;  // room for the sum needs as many bits again
  static_assert(kMostTasks < 1 << kCountBits && kPrintBits + 2 * kCountBits <= 64);
  static std::uint64_t fingerprint(Mark mark);

  const std::int64_t size_;
  const std::shared_ptr<Roster> roster_;  // shared with all duplicates
  const bool crowded_;                    // the team has more tasks than cores
  std::vector<Slot> slots_;               // each is written by its task only, see slot()
  std::vector<std::atomic<bool>> taken_;  // ranks that have a group
  // By parity of the epoch; the last task to arrive at e clears those of e+1. Relaxed order suffices: the barrier
  // around them orders them.
  std::atomic<bool> borrowed_[2] = {}, failed_[2] = {};
  // Release, acquire: a task that sees the leaver sees all epochs that the leaver has passed.
  std::atomic<TaskRank> left_{-1};
  // Released by every arrival, acquired by the last one: it sees all slots, and passes that on with epoch_.
  // The lower 20 bits count arrivals; the bits above hold the sum of their fingerprints.
  alignas(128) std::atomic<std::uint64_t> arrived_{0};
  // Threads in or about to enter futex_wait. Sequentially consistent with epoch_: either the sleeper sees the new
  // epoch, or the last task to arrive sees the sleeper.
  std::atomic<std::int64_t> sleepers_{0};
  // The current epoch; the highest bit says whether the tasks made different calls in the last one. A task that
  // acquires the new value sees all slots of the old one.
  alignas(128) std::atomic<std::uint32_t> epoch_{0};
};

}  // namespace thalweg
