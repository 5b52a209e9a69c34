// Costs of operations of all tasks of a simulated machine: the library's simulation (sim/simulated_*.hpp), with memory
// counted.
#ifndef BENCH_SCALE_MACHINE_HPP
#define BENCH_SCALE_MACHINE_HPP

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/simulated_access.hpp"

namespace bench {

inline constexpr std::int64_t kTasksPerNode = thalweg::kSimulatedTasksPerNode;
// Pieces of a task, interleaved with those of all tasks.
inline constexpr std::uint64_t kPieceBytes = 1024;
inline constexpr std::uint64_t kPieces = 4;
inline constexpr std::uint64_t kTaskBytes = kPieces * kPieceBytes;

// Cost of one operation of all tasks.
struct Cost : thalweg::SimulatedCost {
  double heap_mean = 0;     // peak memory of all tasks, including memory in use before, divided by their number
  double simulated_in = 0;  // seconds on this machine
};
nlohmann::json to_json(const Cost& cost);

// Runs one more operation since counting began. Ends the program on an error.
Cost cost_of(const std::function<thalweg::Result<thalweg::SimulatedCost>()>& operation);

// The operations, each on a new simulated machine.
struct SharedFileCosts {
  Cost open, write, read;
};
// `node_relay`: value of this hint.
SharedFileCosts shared_file(std::int64_t tasks, const std::string& node_relay);
Cost create_multifile(std::int64_t tasks, std::int64_t tasks_per_process);
// Common practice without a library: a file for each task; and a gather to task 0, which writes. Simplified models.
Cost file_per_task(std::int64_t tasks);
Cost gather_and_write(std::int64_t tasks);

}  // namespace bench

#endif
