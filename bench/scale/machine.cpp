#include "scale/machine.hpp"

#include "plan/counting_new.hpp"
#include "sim/simulated_multifile.hpp"
#include "support/clock.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

using thalweg::Direction;
using thalweg::SimulatedBytes;
using thalweg::SimulatedMachine;

// One aggregator per server; each may use all memory that a task may use.
const std::string kHints = "method=aggregate,aggregators=16,aggregator_bytes=64MiB,node_relay=";

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

Cost cost_of(const std::function<thalweg::Result<thalweg::SimulatedCost>()>& operation) {
  const double started = now();
  const auto found = operation();
  if (!found.has_value()) give_up("simulation: " + found.status().message());
  Cost cost{found.value()};
  cost.simulated_in = now() - started;
  cost.heap_mean = static_cast<double>(most_bytes()) / static_cast<double>(cost.tasks);
  return cost;
}

SharedFileCosts shared_file(std::int64_t tasks, const std::string& node_relay) {
  begin_counting();
  SimulatedMachine machine(tasks, SimulatedBytes::forgotten);
  thalweg::SimulatedSharedFile file(machine, {kPieces, kPieceBytes, 0}, kHints + node_relay);
  SharedFileCosts costs;
  costs.open = cost_of([&] { return file.open(); });
  costs.write = cost_of([&] { return file.move(Direction::write); });
  costs.read = cost_of([&] { return file.move(Direction::read); });
  return costs;
}

Cost create_multifile(std::int64_t tasks, std::int64_t tasks_per_process) {
  begin_counting();
  SimulatedMachine machine(tasks, SimulatedBytes::kept, {}, tasks_per_process);
  return cost_of([&] { return thalweg::simulate_multifile_create(machine, tasks_per_process); });
}

Cost file_per_task(std::int64_t tasks) {
  begin_counting();
  SimulatedMachine machine(tasks, SimulatedBytes::forgotten);
  return cost_of([&] { return thalweg::simulate_own_files(machine, Direction::write, kTaskBytes); });
}

Cost gather_and_write(std::int64_t tasks) {
  SimulatedMachine machine(tasks, SimulatedBytes::forgotten);
  Cost cost = cost_of([&] { return thalweg::simulate_gather(machine, Direction::write, kTaskBytes); });
  cost.collectives = 2;
  cost.heap_mean = static_cast<double>(kTaskBytes);  // plus the data received by task 0
  return cost;
}

}  // namespace bench
