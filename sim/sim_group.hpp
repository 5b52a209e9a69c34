// Sim: thousands of tasks on one thread, resumed in an order drawn from a seed.
//
// The world performs a collective once, when its last task arrives, and resumes the tasks one by one; each copies its
// result when it resumes, so that a broadcast of B bytes to N tasks holds B bytes, not N*B. A deadlock, or tasks in
// different collectives, ends the run with an error, never with a hang.
//
// With costs each task has a virtual clock, and its messages are counted (sim_network.hpp).
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

// Costs of messages in nanoseconds; the defaults are typical of a current cluster.
struct SimCosts {
  double send_ns = 300;       // processor time per message, sending or receiving
  double node_ns = 500;       // latency within a node
  double node_byte_ns = 0.1;  // 10 GB/s, for each process
  double net_ns = 1500;       // latency between nodes
  double net_byte_ns = 0.08;  // 12.5 GB/s per direction, shared by the processes of a node
  double meeting_ns = 200;    // barrier of the threads of a process
};

struct SimOptions {
  TaskRank tasks = 1;
  std::uint64_t seed = 0;
  TaskRank tasks_per_process = 1;       // consecutive ranks
  std::int64_t processes_per_node = 1;  // consecutive processes
  bool shuffled = true;                 // false: resumed in rank order, which is faster when only costs matter
  // All waits depend on the world only: a world without ready tasks is a deadlock at once, also for waits outside
  // groups. These are polled at any time, not only when no task is ready.
  bool closed = false;
  TaskRank late = -1;  // resumes only when no other task can
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
  // Both require costs.
  SimLedger& ledger() { return ledger_; }
  SimNetwork& network() { return *network_; }

  // Runs the tasks to their end; ops[i] belongs to rank i. Fails on a deadlock; afterwards the world is unusable, and
  // unfinished ops may only be destroyed.
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
  std::size_t next_ready_ = 0;                       // when not shuffled
  std::vector<std::coroutine_handle<>> late_;        // ready, too
  std::vector<std::weak_ptr<SimChannel>> channels_;  // of all groups and their duplicates
  std::vector<std::unique_ptr<Group>> groups_;
  Status failure_;  // the first mismatch of collectives
  SimLedger ledger_;
  std::unique_ptr<SimNetwork> network_;  // null: no costs
};

}  // namespace thalweg
