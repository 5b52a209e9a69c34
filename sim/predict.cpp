#include "sim/predict.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/size_units.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostSimulated = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 25;  // of all tasks: about 40 bytes of memory each
constexpr std::uint64_t kMostOfTask = 64 * kMi;
constexpr std::uint64_t kMostOfAll = 16 * kGi;
constexpr std::uint64_t kMostKept = 2 * kGi;  // bytes in memory
constexpr std::uint64_t kMostServers = 1024;  // one aggregator each
constexpr std::uint64_t kLeastStripe = 4096;  // one lock per unit is kept
constexpr double kMostNs = 1e12;

// The first number out of range is reported.
class Numbers {
 public:
  const Status& status() const { return status_; }

  template <class Count>
  Numbers& count(const char* name, Count given, std::uint64_t least, std::uint64_t most) {
    if (std::cmp_less(given, least) || std::cmp_greater(given, most))
      refuse(name, std::to_string(given), fmt::format("{} .. {}", least, most));
    return *this;
  }
  Numbers& ns(const char* name, double given) {
    if (!(given > 0 && given <= kMostNs)) refuse(name, std::to_string(given), "more than 0 and at most 1e12");
    return *this;
  }
  Numbers& ns_or_none(const char* name, double given) { return given == 0 ? *this : ns(name, given); }

 private:
  void refuse(const char* name, const std::string& value, const std::string& range) {
    if (status_.ok()) status_ = Status::error(Code::invalid_argument, "{} is {}, must be {}", name, value, range);
  }
  Status status_;
};

Status check_machine(const MachineCosts& costs) {
  const SimCosts& net = costs.network;
  const SimStorageCosts& storage = costs.storage;
  Numbers numbers;
  numbers.count("tasks_per_node", costs.tasks_per_node, 1, kMostSimulated)
      .count("servers", storage.servers, 1, kMostServers)
      .count("stripe_bytes", storage.stripe_bytes, kLeastStripe, kGi)
      .count("lock_bytes", storage.lock_bytes, storage.lock_bytes == 0 ? 0 : kLeastStripe, kGi)
      .ns("send_ns", net.send_ns)
      .ns("node_latency_ns", net.node_ns)
      .ns("node_byte_ns", net.node_byte_ns)
      .ns("latency_ns", net.net_ns)
      .ns("byte_ns", net.net_byte_ns)
      .ns("request_ns", storage.request_ns)
      .ns("server_ns", storage.server_ns)
      .ns("server_byte_ns", storage.byte_ns)
      .ns_or_none("client_byte_ns", storage.client_byte_ns)
      .ns("handover_ns", storage.handover_ns)
      .ns("open_ns", storage.open_ns)
      .ns("create_ns", storage.create_ns);
  return numbers.status();
}

Status too_much(const SimulatedAccess& access, const std::string& what, const std::string& limit) {
  return Status::error(Code::invalid_argument,
                       "{} tasks with {} pieces of {} bytes each: {}; {}, simulate fewer or smaller ones", access.tasks,
                       access.pieces.count, access.pieces.bytes, what, limit);
}

// The total memory and time.
Status check_amount(const SimulatedAccess& access) {
  const auto tasks = static_cast<std::uint64_t>(access.tasks);
  const std::uint64_t of_task = access.pieces.bytes_of_task();
  if (of_task > kMostOfTask) return too_much(access, fmt::format("a task has {} bytes", of_task), "at most 64 MiB");
  if (tasks * access.pieces.count > kMostPieces)
    return too_much(access, fmt::format("{} pieces", tasks * access.pieces.count), "at most 33554432 of all tasks");
  if (tasks * of_task > kMostOfAll)
    return too_much(access, fmt::format("{} bytes", tasks * of_task), "at most 16 GiB of all tasks");
  if (access.way == SimulatedWay::multifile && tasks * of_task > kMostKept)
    return too_much(access, fmt::format("{} bytes", tasks * of_task),
                    "at most 2 GiB in a multifile, whose bytes are kept");
  return {};
}

Status check_access(const SimulatedAccess& access) {
  Numbers numbers;
  numbers.count("tasks", access.tasks, 1, kMostSimulated)
      .count("tasks_per_process", access.tasks_per_process, 1, kMostSimulated)
      .count("pieces", access.pieces.count, 1, kMostSimulated)
      .count("piece_bytes", access.pieces.bytes, 0, kMostOfTask)
      .count("in_turn", access.pieces.in_turn, 0, INT64_MAX);
  TW_RETURN_IF_ERROR(numbers.status());
  if (access.way != SimulatedWay::multifile && !access.hints.empty())
    return Status::error(Code::invalid_argument, "hints '{}' are for a multifile only", access.hints);
  return check_amount(access);
}

// All tasks of a process are on one node of network and storage.
Status check_processes(const MachineCosts& costs, const SimulatedAccess& access) {
  if (costs.tasks_per_node % access.tasks_per_process == 0) return {};
  return Status::error(Code::invalid_argument,
                       "tasks_per_process is {}, must divide tasks_per_node, which is {}; set tasks_per_node to a "
                       "multiple of it",
                       access.tasks_per_process, costs.tasks_per_node);
}

}  // namespace

Result<SimulatedSeconds> predict(const MachineCosts& costs, const SimulatedAccess& access) {
  TW_RETURN_IF_ERROR(check_machine(costs));
  TW_RETURN_IF_ERROR(check_access(access));
  TW_RETURN_IF_ERROR(check_processes(costs, access));
  return simulate_access(costs, access);
}

}  // namespace thalweg
