// Accesses of all tasks of a simulated machine and their costs: one shared file, through the engine; a multifile,
// through the library; and, as simplified models, separate files, and one task that writes gathered data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharedfile/plain_file.hpp"
#include "sim/simulated_machine.hpp"

namespace thalweg {

// Interleaved pieces: piece i of `in_turn` neighbouring tasks, then their pieces i + 1; those of the next `in_turn`
// tasks follow all of theirs.
struct SimulatedPieces {
  std::uint64_t count = 1;   // per task
  std::uint64_t bytes = 1;   // per piece
  std::int64_t in_turn = 0;  // 0: all tasks

  std::uint64_t bytes_of_task() const { return count * bytes; }
  // Offset of piece i of a task in the file of `tasks` tasks.
  std::uint64_t offset(std::uint64_t i, std::int64_t task, std::int64_t tasks) const;
};

// Opened by all tasks, then written or read by one collective access each.
class SimulatedSharedFile {
 public:
  SimulatedSharedFile(SimulatedMachine& machine, const SimulatedPieces& pieces, std::string hints);
  Result<SimulatedCost> open();
  Result<SimulatedCost> move(Direction direction);
  Result<SimulatedCost> close();

 private:
  void make_queues();
  std::vector<Extent> extents_of(std::int64_t task);

  SimulatedMachine& machine_;
  const SimulatedPieces pieces_;
  const std::string hints_;
  std::vector<std::byte> memory_;  // of all tasks: its content does not matter
  std::vector<std::unique_ptr<IoQueue>> queues_;
  std::vector<std::unique_ptr<PlainFile>> files_;
};

enum class SimulatedWay { collective, independent, multifile, file_per_task, gather };

struct SimulatedAccess {
  SimulatedWay way = SimulatedWay::collective;
  Direction direction = Direction::write;
  std::int64_t tasks = 1;
  std::int64_t tasks_per_process = 1;
  SimulatedPieces pieces;
  std::string hints = {};  // of a multifile
};

// Virtual seconds.
struct SimulatedSeconds {
  double open = 0, transfer = 0, close = 0;
};
Result<SimulatedSeconds> simulate_access(const MachineCosts& costs, const SimulatedAccess& access);

// Each on the given machine.
Result<SimulatedCost> simulate_own_files(SimulatedMachine& machine, Direction direction, std::uint64_t bytes_of_task);
Result<SimulatedCost> simulate_gather(SimulatedMachine& machine, Direction direction, std::uint64_t bytes_of_task);

}  // namespace thalweg
