#include "sim/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/size_units.hpp"
#include "capi/guard.hpp"
#include "sim/simulated_access.hpp"

using namespace thalweg;

namespace {

constexpr int64_t kMostSimulated = int64_t{1} << 20;
constexpr uint64_t kMostPieces = uint64_t{1} << 24;  // of all tasks: about 40 bytes of memory each
constexpr uint64_t kMostOfTask = 64 * kMi;
constexpr uint64_t kMostOfAll = 16 * kGi;
constexpr uint64_t kMostKept = kGi;     // bytes in memory
constexpr int64_t kMostServers = 1024;  // one aggregator each
constexpr int64_t kLeastStripe = 4096;  // one lock per stripe is kept
constexpr int64_t kMostStripe = int64_t{1} << 30;
constexpr double kMostNs = 1e12;

// Copies a struct of a caller, who may have fewer members, from an older library.
template <class T>
T known_members(const T* given) {
  T all = {};
  if (given != nullptr) std::memcpy(&all, given, std::min(given->struct_size, sizeof all));
  return all;
}

// Checks numbers of a caller; the first one out of range is reported.
class Numbers {
 public:
  const Status& status() const { return status_; }

  // `given` must be in least .. most.
  void count(const char* name, int64_t given, int64_t least, int64_t most, auto& value) {
    if (given < least || given > most) return refuse(name, std::to_string(given), fmt::format("{} .. {}", least, most));
    value = static_cast<std::remove_reference_t<decltype(value)>>(given);
  }
  // 0 leaves `value` unchanged.
  void count_or_default(const char* name, int64_t given, int64_t least, int64_t most, auto& value) {
    if (given != 0) count(name, given, least, most, value);
  }
  void ns_or_default(const char* name, double given, double& value) {
    if (given == 0) return;
    if (!(given > 0 && given <= kMostNs)) return refuse(name, std::to_string(given), "more than 0 and at most 1e12");
    value = given;
  }

 private:
  void refuse(const char* name, const std::string& value, const std::string& range) {
    if (status_.ok())
      status_ = Status::error(Code::invalid_argument, "tw_sim_predict: {} is {}, must be {}", name, value, range);
  }
  Status status_;
};

Status machine_of(const tw_sim_machine& given, MachineCosts& costs) {
  SimCosts& net = costs.network;
  SimStorageCosts& storage = costs.storage;
  Numbers numbers;
  numbers.count_or_default("tasks_per_node", given.tasks_per_node, 1, kMostSimulated, costs.tasks_per_node);
  numbers.count_or_default("servers", given.servers, 1, kMostServers, storage.servers);
  numbers.count_or_default("stripe_bytes", given.stripe_bytes, kLeastStripe, kMostStripe, storage.stripe_bytes);
  storage.lock_bytes = storage.stripe_bytes;
  numbers.ns_or_default("send_ns", given.send_ns, net.send_ns);
  numbers.ns_or_default("node_latency_ns", given.node_latency_ns, net.node_ns);
  numbers.ns_or_default("node_byte_ns", given.node_byte_ns, net.node_byte_ns);
  numbers.ns_or_default("latency_ns", given.latency_ns, net.net_ns);
  numbers.ns_or_default("byte_ns", given.byte_ns, net.net_byte_ns);
  numbers.ns_or_default("request_ns", given.request_ns, storage.request_ns);
  numbers.ns_or_default("server_ns", given.server_ns, storage.server_ns);
  numbers.ns_or_default("server_byte_ns", given.server_byte_ns, storage.byte_ns);
  numbers.ns_or_default("handover_ns", given.handover_ns, storage.handover_ns);
  numbers.ns_or_default("open_ns", given.open_ns, storage.open_ns);
  numbers.ns_or_default("create_ns", given.create_ns, storage.create_ns);
  return numbers.status();
}

Status too_much(const SimulatedAccess& access, const std::string& what, const std::string& limit) {
  return Status::error(
      Code::invalid_argument,
      "tw_sim_predict: {} tasks with {} pieces of {} bytes each: {}; {}, simulate fewer or smaller ones", access.tasks,
      access.pieces.count, access.pieces.bytes, what, limit);
}

// Checks the total memory and time.
Status check_amount(const SimulatedAccess& access) {
  const auto tasks = static_cast<uint64_t>(access.tasks);
  const uint64_t of_task = access.pieces.bytes_of_task();
  if (of_task > kMostOfTask) return too_much(access, fmt::format("a task has {} bytes", of_task), "at most 64 MiB");
  if (tasks * access.pieces.count > kMostPieces)
    return too_much(access, fmt::format("{} pieces", tasks * access.pieces.count), "at most 16777216 of all tasks");
  if (tasks * of_task > kMostOfAll)
    return too_much(access, fmt::format("{} bytes", tasks * of_task), "at most 16 GiB of all tasks");
  if (access.way == SimulatedWay::multifile && tasks * of_task > kMostKept)
    return too_much(access, fmt::format("{} bytes", tasks * of_task),
                    "at most 1 GiB in a multifile, whose bytes are kept");
  return {};
}

Status access_of(const tw_sim_access& given, SimulatedAccess& access) {
  Numbers numbers;
  numbers.count("way", given.way, TW_SIM_COLLECTIVE, TW_SIM_GATHER, access.way);
  numbers.count("tasks", given.tasks, 1, kMostSimulated, access.tasks);
  numbers.count_or_default("tasks_per_process", given.tasks_per_process, 1, kMostSimulated, access.tasks_per_process);
  numbers.count("pieces", given.pieces, 1, kMostSimulated, access.pieces.count);
  numbers.count("piece_bytes", given.piece_bytes, 1, kMostOfTask, access.pieces.bytes);
  numbers.count("in_turn", given.in_turn, 0, INT64_MAX, access.pieces.in_turn);
  TW_RETURN_IF_ERROR(numbers.status());
  if (given.direction != TW_ACCESS_READ && given.direction != TW_ACCESS_WRITE)
    return Status::error(Code::invalid_argument,
                         "tw_sim_predict: direction is {}, must be TW_ACCESS_READ or TW_ACCESS_WRITE", given.direction);
  access.direction = given.direction == TW_ACCESS_READ ? Direction::read : Direction::write;
  return check_amount(access);
}

// All tasks of a process are on one node of network and storage.
Status check_processes(const MachineCosts& costs, const SimulatedAccess& access) {
  if (costs.tasks_per_node % access.tasks_per_process == 0) return {};
  return Status::error(Code::invalid_argument,
                       "tw_sim_predict: tasks_per_process is {}, must divide tasks_per_node, which is {}; set "
                       "tasks_per_node to a multiple of it",
                       access.tasks_per_process, costs.tasks_per_node);
}

}  // namespace

extern "C" tw_status tw_sim_predict(const tw_sim_machine* machine, const tw_sim_access* access,
                                    tw_sim_prediction* prediction) {
  return guarded([&]() -> Status {
    if (access == nullptr || prediction == nullptr)
      return Status::error(Code::invalid_argument, "tw_sim_predict: access and prediction may not be NULL");
    MachineCosts costs;
    SimulatedAccess what;
    TW_RETURN_IF_ERROR(machine_of(known_members(machine), costs));
    TW_RETURN_IF_ERROR(access_of(known_members(access), what));
    TW_RETURN_IF_ERROR(check_processes(costs, what));
    TW_ASSIGN_OR_RETURN(const SimulatedSeconds found, simulate_access(costs, what));
    const tw_sim_prediction all{prediction->struct_size, found.open, found.transfer, found.close};
    std::memcpy(prediction, &all, std::min(prediction->struct_size, sizeof all));
    return {};
  });
}
