// Team: what the threads of one group share. An epoch barrier, and slots in which each task shows its data.
//
// A collective is one or two epochs. In an epoch every task fills its slot, arrives, and waits until all have
// arrived; then it may read all slots. Slots are double-buffered by the parity of the epoch: a slot of epoch e is
// filled again in epoch e+2, and that needs everybody's arrival at e+1, which comes after the reading of e. So
// small data, copied into the slot, need one epoch. Larger data stay with their owner, who is kept there by a
// second epoch until all have read.
//
// Whether all tasks make the same call costs nothing to see: what is added to the counter of those that have arrived
// has a fingerprint of the call in its upper bits, and the last one to arrive compares the sum with its own. Of two
// different calls the sum is never right; of more than two it is wrong but for one mixture in millions.
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
  using Epoch = std::uint32_t;  // counts modulo 2^31; only equality with the next one is ever asked
  static constexpr std::size_t kInlineBytes = 112;
  static constexpr std::int64_t kMostTasks = 1'000'000;

  // The call that a task makes, and the collective of the team that serves it.
  struct Mark {
    Call call = Call::none;
    Primitive within = Primitive::none;  // of a hybrid group: its collective, which is compared in place of the call
    Primitive primitive = Primitive::none;
    constexpr std::uint32_t key() const {  // equal: the same call
      const bool inner = within != Primitive::none;
      const auto outer = inner ? 256U + static_cast<unsigned>(within) : static_cast<unsigned>(class_of(call));
      return outer << 4 | static_cast<unsigned>(primitive);
    }
    constexpr std::uint64_t bits() const {  // 16
      return static_cast<unsigned>(call) << 8 | static_cast<unsigned>(within) << 4 | static_cast<unsigned>(primitive);
    }
    static constexpr Mark of(std::uint64_t bits) {
      return {static_cast<Call>(bits >> 8), static_cast<Primitive>(bits >> 4 & 15), static_cast<Primitive>(bits & 15)};
    }
    const char* name() const { return call != Call::none ? name_of(call) : name_of_primitive(); }
    const char* name_of_primitive() const { return name_of(within != Primitive::none ? within : primitive); }
  };

  // Two cache lines of its own: neighbours do not share, and the adjacent-line prefetcher does no harm. It is written
  // without being read, since the line is with those who read it last.
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

  // `of`: this is a duplicate of it. May throw std::bad_alloc.
  explicit Team(std::int64_t tasks, const Team* of = nullptr);

  Roster& roster() { return *roster_; }
  std::int64_t size() const { return size_; }
  bool take_rank(TaskRank rank);  // false when it is taken

  // The slot of `rank` in `epoch`. Written by its owner before it arrives, read by all after the epoch passed.
  Slot& slot(Epoch epoch, TaskRank rank) { return slots_[(epoch & 1) * static_cast<std::size_t>(size_) + rank]; }
  // Shows `data`: copied when small, else borrowed until the next epoch passes.
  void show(Epoch epoch, TaskRank rank, Mark mark, ByteView data);
  // Shows the address of something, borrowed until the next epoch passes.
  void show_address(Epoch epoch, TaskRank rank, Mark mark, const void* address);

  // Whether anybody showed borrowed data in `epoch`; the same answer on all tasks once it passed.
  bool any_borrowed(Epoch epoch) const { return flags_[epoch & 1].borrowed.load(std::memory_order_relaxed); }
  // A task that failed while reading says so before it arrives at `epoch`; all see it once that passed.
  void mark_failed(Epoch epoch) { flags_[epoch & 1].failed.store(true, std::memory_order_relaxed); }
  bool any_failed(Epoch epoch) const { return flags_[epoch & 1].failed.load(std::memory_order_relaxed); }

  // This task comes no more: its group is gone. What others wait for then never passes.
  void leave(TaskRank rank);
  TaskRank who_left() const { return left_.load(std::memory_order_acquire); }  // the first one; negative: nobody

  void arrive(Epoch epoch, Mark mark);
  bool passed(Epoch epoch) const { return (epoch_.load(std::memory_order_acquire) & kEpochs) != epoch; }
  static Epoch after(Epoch epoch) { return (epoch + 1) & kEpochs; }
  // Whether this epoch has passed, and all tasks made one call in it; asked before this task arrives again, so that no
  // further one can have passed.
  bool in_step(Epoch epoch) const { return epoch_.load(std::memory_order_relaxed) == after(epoch); }
  // Waits without sleeping; true: the epoch passed.
  bool spin(Epoch epoch) const;
  // Sleeps until the epoch passes, for at most about a millisecond.
  void sleep(Epoch epoch);

 private:
  static constexpr int kBytesBits = 48;
  static constexpr std::uint32_t kEpochs = (1U << 31) - 1;
  static constexpr std::uint32_t kOutOfStep = 1U << 31;
  static constexpr int kCountBits = 20;
  static constexpr int kPrintBits = 24;  // that many more bits are enough for their sum
  static_assert(kMostTasks < 1 << kCountBits && kPrintBits + 2 * kCountBits <= 64);
  static std::uint64_t fingerprint(Mark mark);

  // Relaxed suffices for both: they are ordered by the barrier around them.
  struct Flags {
    std::atomic<bool> borrowed{false};
    std::atomic<bool> failed{false};
  };

  const std::int64_t size_;
  const std::shared_ptr<Roster> roster_;  // that of all duplicates
  const bool crowded_;                    // more tasks than cores
  std::vector<Slot> slots_;               // each written by its owner only, see slot()
  std::vector<std::atomic<bool>> taken_;  // ranks that have a group
  Flags flags_[2];                        // by parity; cleared for e+1 by the last to arrive at e
  // Release, acquire: who sees that a task has left sees all epochs that it has passed.
  std::atomic<TaskRank> left_{-1};
  // Release by every arriver, acquired by the last: it sees all slots, and passes that on with epoch_.
  // The lower 20 bits count, above them is the sum of their fingerprints.
  alignas(128) std::atomic<std::uint64_t> arrived_{0};
  // Threads in or on the way into futex_wait. Sequentially consistent with epoch_: either the sleeper sees the new
  // epoch, or the last arriver sees the sleeper.
  std::atomic<std::int64_t> sleepers_{0};
  // The current epoch; in the highest bit, whether the tasks made different calls in the last one. Whoever acquires the
  // new value sees all slots of the old one.
  alignas(128) std::atomic<std::uint32_t> epoch_{0};
};

}  // namespace thalweg
