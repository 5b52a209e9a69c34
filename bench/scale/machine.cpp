#include "scale/machine.hpp"

#include <algorithm>

#include "plan/counting_new.hpp"
#include "support/clock.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

thalweg::SimOptions options_of(std::int64_t tasks, std::int64_t tasks_per_process) {
  thalweg::SimOptions options;
  options.tasks = tasks;
  options.tasks_per_process = tasks_per_process;
  options.processes_per_node = kTasksPerNode / tasks_per_process;
  options.shuffled = false;
  options.closed = true;
  options.costs.emplace();
  return options;
}

// All clocks where the last one is, all counts at nothing.
double begin_together(thalweg::SimLedger& ledger) {
  double latest = 0;
  for (const thalweg::SimTask& task : ledger.tasks) latest = std::max(latest, task.clock_ns);
  for (thalweg::SimTask& task : ledger.tasks) {
    task = {};
    task.clock_ns = latest;
  }
  ledger.collectives = 0;
  return latest;
}

}  // namespace

nlohmann::json to_json(const Cost& cost) {
  return {{"tasks", cost.tasks},
          {"seconds", cost.seconds},
          {"messages_most", cost.messages_most},
          {"messages_mean", cost.messages_mean},
          {"bytes_most", cost.bytes_most},
          {"collectives", cost.collectives},
          {"received_most", cost.received_most},
          {"heap_mean", cost.heap_mean},
          {"simulated_in", cost.simulated_in}};
}

void must_be_ok(const thalweg::Status& status, const char* what) {
  if (!status.ok()) give_up(std::string(what) + ": " + status.message());
}

Machine::Machine(std::int64_t tasks, Bytes bytes, std::int64_t tasks_per_process)
    : world_(options_of(tasks, tasks_per_process)),
      storage_(thalweg::SimStorage::make(
          bytes == Bytes::kept ? thalweg::make_memory_backend() : thalweg::make_hollow_backend(), {},
          world_.ledger())) {}

Cost Machine::measure(const std::function<thalweg::Status()>& what) {
  thalweg::SimLedger& ledger = world_.ledger();
  const double begin = begin_together(ledger);
  const double started = now();
  must_be_ok(what(), "simulation");
  Cost cost;
  cost.tasks = tasks();
  cost.simulated_in = now() - started;
  double end = 0;
  for (const thalweg::SimTask& task : ledger.tasks) {
    end = std::max(end, task.clock_ns);
    cost.messages_most = std::max(cost.messages_most, static_cast<double>(task.messages));
    cost.messages_mean += static_cast<double>(task.messages) / static_cast<double>(tasks());
    cost.bytes_most = std::max(cost.bytes_most, static_cast<double>(task.bytes));
    cost.received_most = std::max(cost.received_most, static_cast<double>(task.most_received));
  }
  cost.seconds = (end - begin) * 1e-9;
  cost.collectives = static_cast<double>(ledger.collectives);
  cost.heap_mean = static_cast<double>(most_bytes()) / static_cast<double>(tasks());
  return cost;
}

}  // namespace bench
