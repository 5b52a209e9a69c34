// sim.h: a multifile of simulated tasks in memory; what an access takes on a simulated machine.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "capi/guard.hpp"
#include "capi/multifile_handle.hpp"
#include "file/simulate.hpp"
#include "file/simulated_access.hpp"
#include "thalweg/sim.h"

using namespace thalweg;

namespace {

constexpr int64_t kMostSimulated = int64_t{1} << 20;
constexpr int64_t kMostOfTask = int64_t{64} << 20;
constexpr int64_t kMostOfAll = int64_t{16} << 30;

// A caller of an older library knows fewer members.
template <class T>
T known_members(const T* given) {
  T all = {};
  if (given != nullptr) std::memcpy(&all, given, std::min(given->struct_size, sizeof all));
  return all;
}

bool take_ns(double given, double& value) {
  if (given != 0) value = given;
  return value >= 0 && value <= 1e12;
}

bool take_count(int64_t given, int64_t most, auto& value) {
  if (given != 0) value = static_cast<std::remove_reference_t<decltype(value)>>(given);
  return given >= 0 && given <= most;
}

Status machine_of(const tw_sim_machine& given, MachineCosts& costs) {
  SimCosts& net = costs.network;
  SimStorageCosts& storage = costs.storage;
  bool ok = take_count(given.tasks_per_node, kMostSimulated, costs.tasks_per_node);
  ok &= take_count(given.servers, 1 << 16, storage.servers);
  ok &= take_count(given.stripe_bytes, int64_t{1} << 40, storage.stripe_bytes);
  storage.lock_bytes = storage.stripe_bytes;
  ok &= take_ns(given.send_ns, net.send_ns);
  ok &= take_ns(given.node_latency_ns, net.node_ns);
  ok &= take_ns(given.node_byte_ns, net.node_byte_ns);
  ok &= take_ns(given.latency_ns, net.net_ns);
  ok &= take_ns(given.byte_ns, net.net_byte_ns);
  ok &= take_ns(given.request_ns, storage.request_ns);
  ok &= take_ns(given.server_ns, storage.server_ns);
  ok &= take_ns(given.server_byte_ns, storage.byte_ns);
  ok &= take_ns(given.handover_ns, storage.handover_ns);
  ok &= take_ns(given.open_ns, storage.open_ns);
  ok &= take_ns(given.create_ns, storage.create_ns);
  if (ok) return {};
  return Status::error(Code::invalid_argument,
                       "tw_sim_predict: the machine has a number that is negative or too large; see sim.h");
}

Status access_of(const tw_sim_access& given, SimulatedAccess& access) {
  const bool ok = given.way >= TW_SIM_COLLECTIVE && given.way <= TW_SIM_GATHER &&
                  (given.direction == TW_ACCESS_READ || given.direction == TW_ACCESS_WRITE) && given.tasks >= 1 &&
                  given.tasks <= kMostSimulated && given.tasks_per_process >= 0 && given.pieces >= 1 &&
                  given.pieces <= kMostSimulated && given.piece_bytes >= 1 && given.piece_bytes <= kMostOfTask &&
                  given.in_turn >= 0;
  const int64_t of_task = ok ? given.pieces * given.piece_bytes : 0;
  if (!ok || of_task > kMostOfTask || of_task > kMostOfAll / given.tasks)
    return Status::error(Code::invalid_argument,
                         "tw_sim_predict: way " + std::to_string(given.way) + ", " + std::to_string(given.tasks) +
                             " tasks, " + std::to_string(given.pieces) + " pieces of " +
                             std::to_string(given.piece_bytes) + " bytes each: see sim.h for the limits");
  access.way = static_cast<SimulatedWay>(given.way);
  access.direction = given.direction == TW_ACCESS_READ ? Direction::read : Direction::write;
  access.tasks = given.tasks;
  access.tasks_per_process = std::max<int64_t>(given.tasks_per_process, 1);
  access.pieces = {static_cast<uint64_t>(given.pieces), static_cast<uint64_t>(given.piece_bytes), given.in_turn};
  return {};
}

}  // namespace

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

extern "C" tw_status tw_sim_predict(const tw_sim_machine* machine, const tw_sim_access* access,
                                    tw_sim_prediction* prediction) {
  return guarded([&]() -> Status {
    if (access == nullptr || prediction == nullptr)
      return Status::error(Code::invalid_argument, "tw_sim_predict: access and prediction may not be NULL");
    MachineCosts costs;
    SimulatedAccess what;
    TW_RETURN_IF_ERROR(machine_of(known_members(machine), costs));
    TW_RETURN_IF_ERROR(access_of(known_members(access), what));
    TW_ASSIGN_OR_RETURN(const SimulatedSeconds found, simulate_access(costs, what));
    const tw_sim_prediction all{prediction->struct_size, found.open, found.transfer, found.close};
    std::memcpy(prediction, &all, std::min(prediction->struct_size, sizeof all));
    return {};
  });
}
