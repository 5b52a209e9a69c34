#include "sim/simulated_machine.hpp"
#include "sim/memory_backend.hpp"

#include <algorithm>

namespace thalweg {

namespace {

SimOptions options_of(std::int64_t tasks, const MachineCosts& costs, std::int64_t tasks_per_process) {
  SimOptions options;
  options.tasks = tasks;
  options.tasks_per_process = tasks_per_process;
  options.processes_per_node = std::max<std::int64_t>(1, costs.tasks_per_node / tasks_per_process);
  options.shuffled = false;
  options.closed = true;
  options.costs = costs.network;
  return options;
}

// Sets all clocks to the latest one and all counts to zero.
double begin_together(SimLedger& ledger) {
  double latest = 0;
  for (const SimTask& task : ledger.tasks) latest = std::max(latest, task.clock_ns);
  for (SimTask& task : ledger.tasks) {
    task = {};
    task.clock_ns = latest;
  }
  ledger.collectives = 0;
  return latest;
}

}  // namespace

SimulatedMachine::SimulatedMachine(std::int64_t tasks, SimulatedBytes bytes, const MachineCosts& costs,
                                   std::int64_t tasks_per_process)
    : tasks_per_node_(costs.tasks_per_node),
      world_(options_of(tasks, costs, tasks_per_process)),
      storage_(SimStorage::make(bytes == SimulatedBytes::kept ? make_memory_backend() : make_hollow_backend(),
                                costs.storage, world_.ledger())) {}

Result<SimulatedCost> SimulatedMachine::run(std::vector<Op<Status>>& ops) {
  TW_ASSIGN_OR_RETURN(const SimulatedCost cost, run_for_values(ops));
  for (Op<Status>& op : ops) TW_RETURN_IF_ERROR(op.value());
  return cost;
}

Result<SimulatedCost> SimulatedMachine::measure(const std::function<Status()>& what) {
  SimLedger& ledger = world_.ledger();
  const double begin = begin_together(ledger);
  storage_->begin_at(begin);
  TW_RETURN_IF_ERROR(what());
  SimulatedCost cost;
  cost.tasks = tasks();
  double end = 0;
  for (const SimTask& task : ledger.tasks) {
    end = std::max(end, task.clock_ns);
    cost.messages_most = std::max(cost.messages_most, static_cast<double>(task.messages));
    cost.messages_mean += static_cast<double>(task.messages) / static_cast<double>(tasks());
    cost.bytes_most = std::max(cost.bytes_most, static_cast<double>(task.bytes));
    cost.received_most = std::max(cost.received_most, static_cast<double>(task.most_received));
  }
  cost.seconds = (end - begin) * 1e-9;
  cost.collectives = static_cast<double>(ledger.collectives);
  return cost;
}

}  // namespace thalweg
