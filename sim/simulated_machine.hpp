// A simulated machine: tasks with virtual clocks on nodes, a network, a parallel file system; and what an operation of
// all its tasks costs. docs/design/simulation.md.
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

// Of one operation of all tasks.
struct SimulatedCost {
  std::int64_t tasks = 0;
  double seconds = 0;        // virtual, from the first task's begin to the last one's end
  double messages_most = 0;  // of the busiest task
  double messages_mean = 0;  // of a task
  double bytes_most = 0;     // sent by one task
  double collectives = 0;    // that the operation is made of
  double received_most = 0;  // brought to one task by one collective
};

enum class SimulatedBytes { forgotten, kept };

class SimulatedMachine {
 public:
  // A task is a process, as an MPI rank is, unless several of a node are threads of one.
  SimulatedMachine(std::int64_t tasks, SimulatedBytes bytes, const MachineCosts& costs = {},
                   std::int64_t tasks_per_process = 1);

  std::int64_t tasks() const { return world_.size(); }
  Group& group(std::int64_t task) { return world_.group(task); }
  SimNetwork& network() { return world_.network(); }
  std::shared_ptr<Backend> backend_of(std::int64_t task) { return storage_->backend_of(task, node_of(task)); }
  std::unique_ptr<IoQueue> queue_of(std::int64_t task, std::size_t depth) {
    return storage_->queue_of(task, node_of(task), depth);
  }

  // Runs an op for each task, and says what that cost. Fails where the tasks come to no end, or one of them failed.
  Result<SimulatedCost> run(std::vector<Op<Status>>& ops);
  // The same of ops with other values, which the caller looks at.
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
