// A simulated machine: tasks with virtual clocks on nodes, a network, a parallel file system; measures the cost of
// operations of all its tasks. docs/design/simulation.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sim/sim_group.hpp"
#include "sim/sim_storage.hpp"

namespace thalweg {

inline constexpr std::int64_t kSimulatedTasksPerNode = 64;

struct MachineCosts {
  std::int64_t tasks_per_node = kSimulatedTasksPerNode;
  SimCosts network;
  SimStorageCosts storage;
};

// Cost of one operation of all tasks.
struct SimulatedCost {
  std::int64_t tasks = 0;
  double seconds = 0;        // virtual, from the first task's start to the last task's end
  double messages_most = 0;  // of the busiest task
  double messages_mean = 0;  // per task
  double bytes_most = 0;     // sent by one task
  double collectives = 0;    // in the operation
  double received_most = 0;  // received by one task in one collective
};

enum class SimulatedBytes { forgotten, kept };

class SimulatedMachine {
 public:
  // A task is a process, like an MPI rank, unless several tasks of a node are threads of one.
  SimulatedMachine(std::int64_t tasks, SimulatedBytes bytes, const MachineCosts& costs = {},
                   std::int64_t tasks_per_process = 1);

  std::int64_t tasks() const { return world_.size(); }
  Group& group(std::int64_t task) { return world_.group(task); }
  SimNetwork& network() { return world_.network(); }
  std::shared_ptr<Backend> backend_of(std::int64_t task) { return storage_->backend_of(task, node_of(task)); }
  std::unique_ptr<IoQueue> queue_of(std::int64_t task, std::size_t depth) {
    return storage_->queue_of(task, node_of(task), depth);
  }

  // Runs one Op per task and returns the cost. Fails on a deadlock or when a task failed.
  Result<SimulatedCost> run(std::vector<Op<Status>>& ops);
  // For Ops with other values, which the caller evaluates.
  template <class T>
  Result<SimulatedCost> run_for_values(std::vector<Op<T>>& ops) {
    return measure([&] { return world_.run<T>(ops); });
  }
  Result<SimulatedCost> measure(const std::function<Status()>& what);

 private:
  std::int64_t node_of(std::int64_t task) const { return task / tasks_per_node_; }
  const std::int64_t tasks_per_node_;
  SimWorld world_;
  std::shared_ptr<SimStorage> storage_;
};

}  // namespace thalweg
