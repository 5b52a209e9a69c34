// sim.h: a multifile of simulated tasks in memory.
#include <cstring>

#include "capi/guard.hpp"
#include "capi/multifile_handle.hpp"
#include "file/simulate.hpp"
#include "thalweg/sim.h"

using namespace thalweg;

extern "C" tw_status tw_sim_multifile(int64_t tasks, int64_t tasks_per_process, int64_t bytes_per_file, uint64_t seed,
                                      const tw_multifile_config* config, tw_sim_report* report) {
  return guarded([&]() -> Status {
    constexpr int64_t kMostTasks = 1 << 24, kMostBytes = 1 << 20;
    if (tasks < 1 || tasks > kMostTasks || tasks_per_process < 1 || bytes_per_file < 0 || bytes_per_file > kMostBytes)
      return Status::error(Code::invalid_argument, "tw_sim_multifile: " + std::to_string(tasks) + " tasks, " +
                                                       std::to_string(tasks_per_process) + " per process, " +
                                                       std::to_string(bytes_per_file) +
                                                       " bytes each: see sim.h for the limits");
    SimulationReport found;
    const Options options = config != nullptr ? config->config.options : Options{};
    TW_RETURN_IF_ERROR(simulate_multifile({tasks, tasks_per_process, bytes_per_file, seed, options}, found));
    if (report == nullptr) return {};
    const tw_sim_report all{report->struct_size,  found.create_seconds, found.close_seconds, found.open_seconds,
                            found.metadata_bytes, found.bytes_per_task, found.peak_bytes};
    std::memcpy(report, &all, std::min(report->struct_size, sizeof all));
    return {};
  });
}
