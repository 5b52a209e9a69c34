// Predictions of accesses on larger machines, within limits of memory and time.
#pragma once

#include "sim/simulated_access.hpp"

namespace thalweg {

// Predicts the time of an access, from the first task's start to the last task's end: the engine runs on simulated tasks
// with virtual clocks; network and storage are models (docs/design/simulation.md lists their limits). Copies and
// computations of tasks take no time. Separate files and the gather use simplified models.
//
// Limits: tasks_per_node, tasks, tasks_per_process and pieces of a task 1 .. 2^20, tasks_per_process a divisor of
// tasks_per_node; servers 1 .. 1024; stripe_bytes 4096 .. 2^30, lock_bytes likewise or 0; hints of a multifile only; times more than 0 and at most 10^12 ns; all pieces of a
// task together at most 64 MiB, of all tasks 2^25 pieces and 16 GiB, in a multifile 2 GiB. Beyond one: invalid_argument,
// which names the member.
//
// Memory: the data of one task; 20 to 30 KiB per task, 60 KiB when reading a multifile, 2 KiB with separate files or a
// gather; for a shared file 40 bytes per piece and the buffers of the aggregators, at most 2 GiB; for a multifile all its
// bytes. A million tasks may need 20 to 60 GiB. Time: one second for 10000 tasks with one piece each; minutes at the
// limits of tasks or pieces.
Result<SimulatedSeconds> predict(const MachineCosts& costs, const SimulatedAccess& access);

}  // namespace thalweg
