#include "sim/simulated_access.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/size_units.hpp"
#include "sim/sim_network.hpp"
#include "sim/simulated_multifile.hpp"
#include "storage/queues.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kSimulatedDepth = 4;
constexpr std::uint64_t kSimulatedCall = std::uint64_t{1} << 26;  // of a task that transfers the bytes of all
constexpr std::uint64_t kMostOfAggregators = 2 * kGi;             // all aggregators share the memory of one machine
                                                                  // here

using SharedOpened = Result<std::unique_ptr<PlainFile>>;

Op<Status> move_simulated(PlainFile& file, Direction direction, IoContext io, std::vector<Extent> extents) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.bytes;
  TaskAccess access;
  access.direction = direction;
  access.extents = extents;
  const auto request = file.request(access);
  Op<Outcome> op = request->operation(io);
  Outcome outcome = co_await op;
  request->let_go();
  if (outcome.status.ok() && outcome.moved != bytes)
    outcome.status = Status::error(Code::internal, "simulation: a task has moved fewer bytes than it asked for");
  co_return std::move(outcome.status);
}

// Each task creates or opens its own file, transfers its bytes with one call and closes it; then a barrier.
Op<Status> simulated_own_file(Group& group, std::shared_ptr<Backend> backend, Direction direction,
                              std::vector<std::byte>& memory) {
  const bool reads = direction == Direction::read;
  auto file = backend->open(fmt::format("task.{}", group.rank()), reads ? OpenMode::read : OpenMode::create_exclusive);
  Status status = file.status();
  if (status.ok()) status = reads ? file.value()->read(0, memory).status() : file.value()->write(0, memory);
  if (status.ok()) status = file.value()->close();
  const Status met = co_await group.barrier();
  co_return status.ok() ? met : status;
}

std::string simulated_hints(SimulatedWay way, const MachineCosts& costs) {
  if (way == SimulatedWay::independent) return "method=direct";
  const std::uint64_t mib =
      std::clamp(kMostOfAggregators / costs.storage.servers / kMi, std::uint64_t{1}, std::uint64_t{64});
  return fmt::format("method=aggregate,aggregators={},aggregator_bytes={}MiB", costs.storage.servers, mib);
}

Result<SimulatedSeconds> simulate_shared_file(const MachineCosts& costs, const SimulatedAccess& access) {
  SimulatedMachine machine(access.tasks, SimulatedBytes::forgotten, costs, access.tasks_per_process);
  SimulatedSharedFile file(machine, access.pieces, simulated_hints(access.way, costs));
  SimulatedSeconds seconds;
  TW_ASSIGN_OR_RETURN(SimulatedCost cost, file.open());
  seconds.open = cost.seconds;
  if (access.direction == Direction::read) {  // creates the data to read
    TW_ASSIGN_OR_RETURN(cost, file.move(Direction::write));
  }
  TW_ASSIGN_OR_RETURN(cost, file.move(access.direction));
  seconds.transfer = cost.seconds;
  TW_ASSIGN_OR_RETURN(cost, file.close());
  seconds.close = cost.seconds;
  return seconds;
}

Result<SimulatedSeconds> simulate_files_of_tasks(const MachineCosts& costs, const SimulatedAccess& access) {
  SimulatedMachine machine(access.tasks, SimulatedBytes::forgotten, costs, access.tasks_per_process);
  const std::uint64_t bytes = access.pieces.bytes_of_task();
  SimulatedSeconds seconds;
  // Time of creating or opening is that of an access without bytes.
  TW_ASSIGN_OR_RETURN(SimulatedCost cost, simulate_own_files(machine, Direction::write, 0));
  seconds.open = cost.seconds;
  SimulatedMachine again(access.tasks, SimulatedBytes::forgotten, costs, access.tasks_per_process);
  TW_ASSIGN_OR_RETURN(cost, simulate_own_files(again, Direction::write, bytes));
  if (access.direction == Direction::read) {
    TW_ASSIGN_OR_RETURN(const SimulatedCost opening, simulate_own_files(machine, Direction::read, 0));
    seconds.open = opening.seconds;
    TW_ASSIGN_OR_RETURN(cost, simulate_own_files(again, Direction::read, bytes));
  }
  seconds.transfer = std::max(0.0, cost.seconds - seconds.open);
  return seconds;
}

Result<SimulatedSeconds> simulate_gathered(const MachineCosts& costs, const SimulatedAccess& access) {
  SimulatedMachine machine(access.tasks, SimulatedBytes::forgotten, costs, access.tasks_per_process);
  SimulatedSeconds seconds;
  TW_ASSIGN_OR_RETURN(SimulatedCost cost, simulate_gather(machine, Direction::write, access.pieces.bytes_of_task()));
  if (access.direction == Direction::read) {
    TW_ASSIGN_OR_RETURN(cost, simulate_gather(machine, Direction::read, access.pieces.bytes_of_task()));
  }
  seconds.transfer = cost.seconds;
  return seconds;
}

}  // namespace

std::uint64_t SimulatedPieces::offset(std::uint64_t i, std::int64_t task, std::int64_t tasks) const {
  const std::int64_t most = in_turn == 0 ? tasks : std::min(in_turn, tasks);
  const std::int64_t first = task - task % most;
  const auto turn = static_cast<std::uint64_t>(std::min(most, tasks - first));
  const std::uint64_t begin = static_cast<std::uint64_t>(first) * bytes_of_task();
  return begin + (i * turn + static_cast<std::uint64_t>(task - first)) * bytes;
}

SimulatedSharedFile::SimulatedSharedFile(SimulatedMachine& machine, const SimulatedPieces& pieces, std::string hints)
    : machine_(machine), pieces_(pieces), hints_(std::move(hints)), memory_(pieces.bytes_of_task()) {}

Result<SimulatedCost> SimulatedSharedFile::open() {
  std::vector<Op<SharedOpened>> ops;
  for (std::int64_t r = 0; r < machine_.tasks(); ++r) {
    PlainOpen how;
    how.path = "shared.dat";
    how.options.read = how.options.write = how.options.create = how.options.truncate = true;
    how.hints = hints_;
    ops.push_back(PlainFile::open(machine_.group(r), machine_.backend_of(r), std::move(how)));
  }
  TW_ASSIGN_OR_RETURN(const SimulatedCost cost, machine_.run_for_values(ops));
  for (Op<SharedOpened>& op : ops) {
    TW_RETURN_IF_ERROR(op.value().status());
    files_.push_back(std::move(op.value()).value());
  }
  ops.clear();
  make_queues();
  return cost;
}

Result<SimulatedCost> SimulatedSharedFile::move(Direction direction) {
  std::vector<Op<Status>> ops;
  for (std::int64_t r = 0; r < machine_.tasks(); ++r) {
    IoContext io = blocking_io();
    if (auto& queue = queues_[static_cast<std::size_t>(r)]; queue != nullptr) {
      io.queue = io.background_queue = queue.get();
      io.depth = kSimulatedDepth;
    }
    ops.push_back(move_simulated(*files_[static_cast<std::size_t>(r)], direction, io, extents_of(r)));
  }
  return machine_.run(ops);
}

Result<SimulatedCost> SimulatedSharedFile::close() {
  std::vector<Op<Status>> ops;
  ops.reserve(files_.size());
  for (const auto& file : files_) ops.push_back(file->close());
  TW_ASSIGN_OR_RETURN(const SimulatedCost cost, machine_.run(ops));
  files_.clear();
  return cost;
}

// Only aggregators have transfers in the background.
void SimulatedSharedFile::make_queues() {
  queues_.resize(files_.size());
  std::vector<Aggregator> aggregators = files_[0]->shared()->helpers->aggregators;
  if (aggregators.empty()) aggregators.push_back({0, 0});
  for (const Aggregator& one : aggregators)
    queues_[static_cast<std::size_t>(one.rank)] = machine_.queue_of(one.rank, 2 * kSimulatedDepth);
}

std::vector<Extent> SimulatedSharedFile::extents_of(std::int64_t task) {
  std::vector<Extent> extents;
  extents.reserve(pieces_.count);
  for (std::uint64_t i = 0; i < pieces_.count; ++i)
    extents.push_back({memory_.data() + i * pieces_.bytes, pieces_.bytes, pieces_.offset(i, task, machine_.tasks())});
  return extents;
}

Result<SimulatedCost> simulate_own_files(SimulatedMachine& machine, Direction direction, std::uint64_t bytes_of_task) {
  std::vector<std::byte> memory(bytes_of_task);
  std::vector<Op<Status>> ops;
  for (std::int64_t r = 0; r < machine.tasks(); ++r)
    ops.push_back(simulated_own_file(machine.group(r), machine.backend_of(r), direction, memory));
  return machine.run(ops);
}

// The total data would exceed memory: the gather is counted, not performed.
Result<SimulatedCost> simulate_gather(SimulatedMachine& machine, Direction direction, std::uint64_t bytes_of_task) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(machine.tasks()) * bytes_of_task;
  const bool reads = direction == Direction::read;
  const std::vector<std::uint64_t> parts(static_cast<std::size_t>(machine.tasks()), bytes_of_task);
  std::vector<std::byte> memory(std::min(kSimulatedCall, bytes));
  const auto backend = machine.backend_of(0);
  return machine.measure([&]() -> Status {
    if (!reads) machine.network().gather(0, parts);
    TW_ASSIGN_OR_RETURN(const auto file,
                        backend->open("gathered.dat", reads ? OpenMode::read : OpenMode::create_exclusive));
    for (std::uint64_t at = 0; at < bytes; at += kSimulatedCall) {
      const auto part = std::span(memory).first(std::min(kSimulatedCall, bytes - at));
      TW_RETURN_IF_ERROR(reads ? file->read(at, part).status() : file->write(at, part));
    }
    if (reads) machine.network().scatter(0, parts);
    machine.network().barrier();
    return {};
  });
}

Result<SimulatedSeconds> simulate_access(const MachineCosts& costs, const SimulatedAccess& access) {
  switch (access.way) {
    case SimulatedWay::collective:
    case SimulatedWay::independent:
      return simulate_shared_file(costs, access);
    case SimulatedWay::multifile:
      return simulate_multifile_access(costs, access);
    case SimulatedWay::file_per_task:
      return simulate_files_of_tasks(costs, access);
    case SimulatedWay::gather:
      return simulate_gathered(costs, access);
  }
  return Status::error(Code::internal, "simulation: no such way");
}

}  // namespace thalweg
