// SharedFile: what the tasks of a process have in common of one open file: the stored file, how bytes are to be moved
// to and from it, the shared position, and who may rewrite bytes that are not his.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/plan/aggregators.hpp"
#include "engine/plan/cost_model.hpp"
#include "engine/transfer/range_lock.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// How bytes are moved, one file's worth of decisions; from hints, the tuned profile, or defaults
// (docs/design/storage.md).
struct Strategy {
  bool direct_reads = false;  // past the page cache, where the file can
  bool direct_writes = false;
  bool direct_where_cheaper = false;  // ... and by the costs it is cheaper for the access; else always
  unsigned queue_depth = 4;           // direct transfers in flight, per worker
  std::uint64_t transfer_bytes = std::uint64_t{1} << 22;  // of one direct transfer, when the depth is to be filled
  std::uint64_t staging_bytes = std::uint64_t{1} << 20;   // of one staging buffer; fits a core's cache
  bool sieve_writes = false;  // by promise (docs/howto/hints.md): other handles and processes know nothing of `writers`
  std::optional<Method> method;                             // by hint; else the cost model decides
  std::size_t workers = 0;                                  // by hint; 0: the cost model decides
  std::size_t aggregators = 0;                              // the same
  std::uint64_t aggregator_bytes = std::uint64_t{1} << 24;  // staging of one aggregator, windows and parcels together
  std::optional<bool> node_relay;  // by hint; else what is cheaper (engine/two_phase/node_relay.hpp)
  std::size_t cores_of_node = 0;   // 0: not known
  StorageCosts costs;              // through the page cache
  StorageCosts direct_costs;
};

// The shared position, moved in the order in which in-order accesses were called. Task 0 of a group draws a ticket at
// the call; its access shows the position when all tickets before it are settled.
class SharedPosition {
 public:
  using Ticket = std::uint64_t;
  Ticket draw();
  bool is_turn(Ticket ticket) const { return settled_.load(std::memory_order_acquire) == ticket; }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
  void settle(Ticket ticket, std::uint64_t value);  // by task 0, once, when it is its turn
  // By any other task, of what it heard. Later tickets win over earlier ones.
  void follow(Ticket ticket, std::uint64_t value);

 private:
  void raise_drawn(Ticket least);
  std::mutex mutex_;
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<std::uint64_t> settled_{0};  // release: who sees it sees value_
  std::atomic<std::uint64_t> value_{0};
};

// What a group knows of its tasks when it aggregates: the same for every file that it opens.
struct Helpers {
  std::vector<Aggregator> aggregators;     // who may, spread over nodes first; empty: any of this process
  std::vector<std::int64_t> node_leaders;  // of the processes of this node, in rank order; only where there are others
  std::int64_t tasks_of_node = 0;          // the same
  bool peers_reachable = false;            // aggregators can read and write the memory of all processes of their nodes
};

struct SharedFile {
  std::unique_ptr<StoredFile> stored;
  StorageInfo storage;
  Strategy strategy;
  std::uint32_t direct_alignment = 0;  // agreed by all processes that have it open; 0: nothing goes past the page cache
  bool may_read = false;
  bool may_write = false;
  bool sees_holes = true;   // could be opened for reading, too, whatever was asked for
  bool one_process = true;  // all tasks that have it open together are in this process
  std::shared_ptr<const Helpers> helpers = std::make_shared<const Helpers>();  // of the group that has it open
  SharedPosition position;
  RangeLock writers;
  std::atomic<bool> failed{false};  // a collective access, so that nobody knows what is still under way in its group
  std::atomic<std::uint64_t> requests{0};  // of this process, not complete; release: who sees 0 sees what they did
};

}  // namespace thalweg
