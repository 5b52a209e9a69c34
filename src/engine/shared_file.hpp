// SharedFile: the state of an open file that the tasks of one process share: the stored file, the strategy by which
// bytes are moved, the shared position, and the lock on ranges that are written back.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/plan/aggregators.hpp"
#include "engine/plan/strategy.hpp"
#include "engine/transfer/range_lock.hpp"
#include "group/group.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// The shared position, moved in the order in which in-order accesses were called. Task 0 of a group draws a ticket at
// the call; its access sends the position when all tickets before it are settled.
class SharedPosition {
 public:
  using Ticket = std::uint64_t;
  Ticket draw();
  bool is_turn(Ticket ticket) const { return settled_.load(std::memory_order_acquire) == ticket; }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
  // Called by task 0 once, in its turn; by any other task with the value that task 0 sent. The value never goes back:
  // another thread of a process may have settled a later ticket already.
  void settle(Ticket ticket, std::uint64_t value);

 private:
  std::mutex mutex_;
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<std::uint64_t> settled_{0};  // release: a thread that reads it sees value_, too
  std::atomic<std::uint64_t> value_{0};
};

// co_await: it is the turn of this access at the shared position. Earlier ones may be outstanding requests, which are
// advanced.
struct PositionTurn {
  const Group& group;
  SharedPosition& position;
  SharedPosition::Ticket ticket;
  static bool ready(void* self);
  WaitPoint point() { return {ready, nullptr, this}; }
};

// The aggregators and node relays of a group; the same for every file that it opens.
struct Helpers {
  std::size_t wanted = 0;                    // the hint `aggregators`, from which all others follow
  std::vector<Aggregator> aggregators = {};  // possible ones, spread over nodes first; empty: any task of this process
  std::vector<std::int64_t> node_leaders =
      {};                          // process leaders of this node, in rank order; only where there are other nodes
  std::int64_t tasks_of_node = 0;  // only where there are other nodes
  bool peers_reachable = false;    // aggregators can read and write the memory of all processes of their nodes
};

struct SharedFile {
  std::unique_ptr<StoredFile> stored;
  StorageInfo storage;
  Strategy strategy;
  std::uint32_t direct_alignment = 0;  // agreed by all processes that have it open; 0: nothing goes past the page cache
  bool may_read = false;
  bool may_write = false;
  bool sees_holes = true;   // the file could be opened for reading, too, whatever was asked for
  bool one_process = true;  // all tasks that have it open together are in this process
  bool is_coherent = true;  // each node finds writes of others at once, and never writes back old bytes of a page
  std::uint64_t page_bytes = 4096;  // where not coherent: the largest page of the caches of its nodes
  std::shared_ptr<const Helpers> helpers = std::make_shared<const Helpers>();  // of the group that has it open
  SharedPosition position;
  RangeLock writers;
  std::atomic<std::uint64_t> requests{0};  // of this process, incomplete; release: a reader of 0 sees their effects
  bool goes_direct(Direction direction) const {
    return direct_alignment > 0 && strategy.wants_direct(direction == Direction::read);
  }
};

}  // namespace thalweg
