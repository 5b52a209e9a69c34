// What operations of all tasks of a simulated machine cost: the library's simulation (file/simulated_*.hpp), with the
// memory that it takes counted.
#ifndef BENCH_SCALE_MACHINE_HPP
#define BENCH_SCALE_MACHINE_HPP

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/simulated_access.hpp"

namespace bench {

inline constexpr std::int64_t kTasksPerNode = thalweg::kSimulatedTasksPerNode;
// What a task writes: pieces of all tasks in turn.
inline constexpr std::uint64_t kPieceBytes = 1024;
inline constexpr std::uint64_t kPieces = 4;
inline constexpr std::uint64_t kTaskBytes = kPieces * kPieceBytes;

// Of one operation of all tasks.
struct Cost : thalweg::SimulatedCost {
  double heap_mean = 0;     // high-water mark of the memory of all, with what was there before, by their number
  double simulated_in = 0;  // seconds of this machine
};
nlohmann::json to_json(const Cost& cost);

// Of one more operation since counting began. Ends the program unless it is ok.
Cost cost_of(const std::function<thalweg::Result<thalweg::SimulatedCost>()>& operation);

// The operations, each on machines of its own.
struct SharedFileCosts {
  Cost open, write, read;
};
// `node_relay`: what the hint of this name says.
SharedFileCosts shared_file(std::int64_t tasks, const std::string& node_relay);
Cost create_multifile(std::int64_t tasks, std::int64_t tasks_per_process);
// What programs do without a library: a file for each task; and task 0 writes what it gathered. Plain models of both.
Cost file_per_task(std::int64_t tasks);
Cost gather_and_write(std::int64_t tasks);

}  // namespace bench

#endif
