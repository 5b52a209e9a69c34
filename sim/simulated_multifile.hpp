// A multifile on a simulated machine: created, written and closed by all tasks; opened, read and closed.
#pragma once

#include "sim/simulated_access.hpp"

namespace thalweg {

Result<SimulatedSeconds> simulate_multifile_access(const MachineCosts& costs, const SimulatedAccess& access);
// Creates and closes a multifile without data, on the given machine. Storage operations of a process are made by its
// first thread.
Result<SimulatedCost> simulate_multifile_create(SimulatedMachine& machine, std::int64_t tasks_per_process);

}  // namespace thalweg
