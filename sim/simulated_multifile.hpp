// A multifile on a simulated machine: made, written and closed by all tasks; opened, read and closed.
#pragma once

#include "sim/simulated_access.hpp"

namespace thalweg {

Result<SimulatedSeconds> simulate_multifile_access(const MachineCosts& costs, const SimulatedAccess& access);
// Made and closed without a byte, on the machine that it is given. What the threads of a process do to storage is the
// doing of the first of them.
Result<SimulatedCost> simulate_multifile_create(SimulatedMachine& machine, std::int64_t tasks_per_process);

}  // namespace thalweg
