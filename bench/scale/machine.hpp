// A simulated machine: tasks with virtual clocks, a network, a parallel file system; and what a collective of all its
// tasks costs.
#ifndef BENCH_SCALE_MACHINE_HPP
#define BENCH_SCALE_MACHINE_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/sim_storage.hpp"
#include "group/sim_group.hpp"

namespace bench {

inline constexpr std::int64_t kTasksPerNode = 64;
// What a task writes: pieces of all tasks in turn.
inline constexpr std::uint64_t kPieceBytes = 1024;
inline constexpr std::uint64_t kPieces = 4;
inline constexpr std::uint64_t kTaskBytes = kPieces * kPieceBytes;
inline constexpr std::uint64_t kAggregatorBytes = std::uint64_t{64} << 20;

// Of one operation of all tasks.
struct Cost {
  std::int64_t tasks = 0;
  double seconds = 0;        // predicted, from the first task's begin to the last one's end
  double messages_most = 0;  // of the busiest task
  double messages_mean = 0;  // of a task
  double bytes_most = 0;     // sent by one task
  double collectives = 0;    // that the operation is made of
  double received_most = 0;  // brought to one task by one collective
  double heap_mean = 0;      // high-water mark of the memory of all, with what was there before, by their number
  double simulated_in = 0;   // seconds of this machine
};
nlohmann::json to_json(const Cost& cost);

enum class Bytes { forgotten, kept };

class Machine {
 public:
  // A task is a process, as an MPI rank is, unless several of a node are threads of one.
  Machine(std::int64_t tasks, Bytes bytes, std::int64_t tasks_per_process = 1);

  std::int64_t tasks() const { return world_.size(); }
  thalweg::SimWorld& world() { return world_; }
  std::shared_ptr<thalweg::Backend> backend_of(std::int64_t task) { return storage_->backend_of(task, node_of(task)); }
  std::unique_ptr<thalweg::IoQueue> queue_of(std::int64_t task, std::size_t depth) {
    return storage_->queue_of(task, node_of(task), depth);
  }

  // Runs an op for each task, and gives what it cost. Ends the program when the tasks come to no end.
  template <class T>
  Cost run(std::vector<thalweg::Op<T>>& ops) {
    return measure([&] { return world_.run<T>(ops); });
  }
  Cost measure(const std::function<thalweg::Status()>& what);

 private:
  static std::int64_t node_of(std::int64_t task) { return task / kTasksPerNode; }
  thalweg::SimWorld world_;
  std::shared_ptr<thalweg::SimStorage> storage_;
};

// Ends the program unless it is ok.
void must_be_ok(const thalweg::Status& status, const char* what);

// The operations, each on machines of its own.
struct SharedFileCosts {
  Cost open, write, read;
};
// `forwarding`: what the hint of this name says.
SharedFileCosts shared_file(std::int64_t tasks, const std::string& forwarding);
Cost create_multifile(std::int64_t tasks, std::int64_t tasks_per_process);
// What programs do without a library: a file for each task; and task 0 writes what it gathers. Plain models of both.
Cost file_per_task(std::int64_t tasks);
Cost gather_and_write(std::int64_t tasks);

}  // namespace bench

#endif
