#include "sim/simulated_multifile.hpp"

#include "base/hint_table.hpp"
#include "multifile/multifile.hpp"

namespace thalweg {

namespace {

using MultifileOpened = Result<std::unique_ptr<Multifile>>;

OpenRequest simulated_request(std::shared_ptr<Backend> backend, MultifileMode mode) {
  OpenRequest request;
  request.backend = std::move(backend);
  request.path = "multi.tw";
  request.access = mode;
  return request;
}

// Creates and closes a multifile.
Op<Status> make_and_close(Group& group, std::shared_ptr<Backend> backend) {
  MultifileOpened opened = co_await open_multifile(group, simulated_request(std::move(backend), MultifileMode::create));
  if (!opened.has_value()) co_return opened.error();
  co_return co_await close_multifile(group, std::move(opened).value());
}

class SimulatedMultifile {
 public:
  SimulatedMultifile(const MachineCosts& costs, const SimulatedAccess& access)
      : tasks_per_process_(access.tasks_per_process),
        hints_(access.hints),
        machine_(access.tasks, SimulatedBytes::kept, costs, access.tasks_per_process),
        memory_(access.pieces.bytes_of_task()) {}

  Result<SimulatedSeconds> all(Direction direction) {
    TW_RETURN_IF_ERROR(for_each_hint(
        hints_, [&](std::string_view name, std::string_view value) { return set_option(options_, name, value); }));
    TW_ASSIGN_OR_RETURN(const SimulatedSeconds written, pass(MultifileMode::create));
    if (direction == Direction::write) return written;
    return pass(MultifileMode::read);
  }

 private:
  Result<SimulatedSeconds> pass(MultifileMode mode) {
    SimulatedSeconds seconds;
    TW_ASSIGN_OR_RETURN(SimulatedCost cost, open(mode));
    seconds.open = cost.seconds;
    TW_ASSIGN_OR_RETURN(cost, machine_.measure([&] { return move(mode); }));
    seconds.transfer = cost.seconds;
    TW_ASSIGN_OR_RETURN(cost, close());
    seconds.close = cost.seconds;
    return seconds;
  }

  Result<SimulatedCost> open(MultifileMode mode) {
    std::vector<Op<MultifileOpened>> ops;
    for (std::int64_t r = 0; r < machine_.tasks(); ++r) {
      OpenRequest request = simulated_request(machine_.backend_of(r - r % tasks_per_process_), mode);
      request.options = options_;
      ops.push_back(open_multifile(machine_.group(r), std::move(request)));
    }
    TW_ASSIGN_OR_RETURN(const SimulatedCost cost, machine_.run_for_values(ops));
    files_.clear();
    for (auto& op : ops) {
      TW_RETURN_IF_ERROR(op.value().status());
      files_.push_back(std::move(op.value()).value());
    }
    return cost;
  }

  // Independent: no task waits for another one.
  Status move(MultifileMode mode) {
    for (const auto& file : files_) {
      if (mode == MultifileMode::read) {
        TW_ASSIGN_OR_RETURN(LogicalReader * reader, file->reading->current_or_first());
        std::size_t got = 0;
        TW_RETURN_IF_ERROR(reader->read(0, memory_, got));
        if (got != memory_.size()) return Status::error(Code::internal, "simulation: a logical file is too short");
      } else {
        TW_ASSIGN_OR_RETURN(LogicalWriter * writer, file->writing->current_or_first());
        TW_RETURN_IF_ERROR(file->writing->write(*writer, memory_));
        TW_RETURN_IF_ERROR(file->writing->flush());  // otherwise the close would write the rest
      }
    }
    return {};
  }

  Result<SimulatedCost> close() {
    std::vector<Op<Status>> ops;
    for (std::int64_t r = 0; r < machine_.tasks(); ++r)
      ops.push_back(close_multifile(machine_.group(r), std::move(files_[static_cast<std::size_t>(r)])));
    return machine_.run(ops);
  }

  const std::int64_t tasks_per_process_;
  const std::string hints_;
  MultifileOptions options_;
  SimulatedMachine machine_;
  std::vector<std::byte> memory_;  // of all tasks
  std::vector<std::unique_ptr<Multifile>> files_;
};

}  // namespace

Result<SimulatedCost> simulate_multifile_create(SimulatedMachine& machine, std::int64_t tasks_per_process) {
  std::vector<Op<Status>> ops;
  for (std::int64_t r = 0; r < machine.tasks(); ++r)
    ops.push_back(make_and_close(machine.group(r), machine.backend_of(r - r % tasks_per_process)));
  return machine.run(ops);
}

Result<SimulatedSeconds> simulate_multifile_access(const MachineCosts& costs, const SimulatedAccess& access) {
  SimulatedMultifile multifile(costs, access);
  return multifile.all(access.direction);
}

}  // namespace thalweg
