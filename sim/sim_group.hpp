// Sim: thousands of tasks on one thread, woken in an order drawn from a seed.
//
// The world finishes a collective in the moment its last task arrives, once for all, and wakes the tasks one by
// one; each copies its result when it wakes, so that a broadcast of B bytes to N tasks holds B bytes, not N*B. A
// world in which nobody can go on, or whose tasks stand in different collectives, says so and stops: never a hang.
//
// With costs each task has a virtual clock, and what it sends is counted (sim_network.hpp).
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "group/group.hpp"
#include "sim/sim_ledger.hpp"

namespace thalweg {

// What messages cost. Nanoseconds; the defaults are those of a cluster of today.
struct SimCosts {
  double send_ns = 300;       // of the processor, for each message, on either side
  double node_ns = 500;       // latency within a node
  double node_byte_ns = 0.1;  // 10 GB/s, each process
  double net_ns = 1500;       // latency between nodes
  double net_byte_ns = 0.08;  // 12.5 GB/s, the processes of a node together, in either direction
  double meeting_ns = 200;    // of the threads of a process
};

struct SimOptions {
  TaskRank tasks = 1;
  std::uint64_t seed = 0;
  TaskRank tasks_per_process = 1;       // neighbours in rank share a process
  std::int64_t processes_per_node = 1;  // neighbouring processes share a node
  bool shuffled = true;                 // false: woken in turn; kinder to the cache where only costs are studied
  // Nothing but the world can let a task go on: one in which nobody can is stuck at once, also where tasks wait for
  // what is no group. And such waits end at any time, not only when nothing else is left to do.
  bool closed = false;
  TaskRank late = -1;  // goes on only when nobody else can
  std::optional<SimCosts> costs{};
};

class SimChannel;
class SimNetwork;

class SimWorld {
 public:
  explicit SimWorld(const SimOptions& options);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  TaskRank size() const { return options_.tasks; }
  Group& group(TaskRank rank) { return *groups_[static_cast<std::size_t>(rank)]; }
  // Both only with costs.
  SimLedger& ledger() { return ledger_; }
  SimNetwork& network() { return *network_; }

  // Starts the tasks, ops[i] being that of rank i, and runs them all to their end. Fails when they cannot get there;
  // the world is then of no further use, and the ops that are not done may only be destroyed.
  template <class T>
  Status run(std::span<Op<T>> ops) {
    const Tasks tasks{ops.data(), ops.size(), [](void* all, std::size_t i) { static_cast<Op<T>*>(all)[i].start(); },
                      [](void* all, std::size_t i) { return static_cast<Op<T>*>(all)[i].done(); }};
    return run_tasks(tasks);
  }

 private:
  friend class SimChannel;
  struct Tasks {
    void* all;
    std::size_t count;
    void (*start)(void* all, std::size_t i);
    bool (*done)(void* all, std::size_t i);
  };

  Status run_tasks(const Tasks& tasks);
  void start_all(const Tasks& tasks);
  void run_ready(Driver& driver);
  bool look_elsewhere(Driver& driver);
  void wake(TaskRank rank, std::coroutine_handle<> coroutine);
  std::coroutine_handle<> take_ready();
  Status stuck(const Tasks& tasks, const Driver& driver) const;

  const SimOptions options_;
  std::mt19937_64 random_;
  std::vector<std::coroutine_handle<>> ready_;
  std::size_t next_ready_ = 0;                       // where not shuffled
  std::vector<std::coroutine_handle<>> late_;        // could go on, too
  std::vector<std::weak_ptr<SimChannel>> channels_;  // of the groups and all their duplicates
  std::vector<std::unique_ptr<Group>> groups_;
  Status failure_;  // the first mismatch of collectives
  SimLedger ledger_;
  std::unique_ptr<SimNetwork> network_;  // null: nothing is counted
};

}  // namespace thalweg
