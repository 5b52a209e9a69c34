// Runs a multifile on simulated tasks in memory: measures the costs of its collectives for very many tasks, and tests
// the collectives under any order of events.
#pragma once

#include <cstdint>

#include "multifile/options.hpp"

namespace thalweg {

struct Simulation {
  std::int64_t tasks = 1;
  std::int64_t tasks_per_process = 1;
  std::int64_t bytes_per_file = 0;
  std::uint64_t seed = 0;
  MultifileOptions options;
};

struct SimulationReport {
  double create_seconds = 0, close_seconds = 0, open_seconds = 0;
  std::int64_t metadata_bytes = 0;  // of all physical files, without user data
  std::int64_t bytes_per_task = 0;  // heap in use with all handles open, per task
  std::int64_t peak_bytes = 0;      // largest growth of resident memory, all tasks together
};

// Creates, writes, closes, opens, reads back and compares. A difference is Code::internal.
Status simulate_multifile(const Simulation& simulation, SimulationReport& report);

}  // namespace thalweg
