// Sim: thousands of tasks on one thread, woken in an order drawn from a seed.
//
// The world finishes a collective in the moment its last task arrives, once for all, and wakes the tasks one by
// one; each copies its result when it wakes, so that a broadcast of B bytes to N tasks holds B bytes, not N*B. A
// world in which nobody can go on, or whose tasks stand in different collectives, says so and stops: never a hang.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

struct SimOptions {
  TaskRank tasks = 1;
  std::uint64_t seed = 0;
  TaskRank tasks_per_process = 1;       // neighbours in rank share a process
  std::int64_t processes_per_node = 1;  // neighbouring processes share a node
  bool shuffled = true;                 // false: woken in turn; kinder to the cache where only costs are studied
};

class SimChannel;

class SimWorld {
 public:
  explicit SimWorld(const SimOptions& options);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  TaskRank size() const { return options_.tasks; }
  Group& group(TaskRank rank) { return *groups_[static_cast<std::size_t>(rank)]; }

  // Starts the tasks, ops[i] being that of rank i, and runs them all to their end. Fails when they cannot get there;
  // the world is then of no further use, and the ops that are not done may only be destroyed.
  template <class T>
  Status run(std::span<Op<T>> ops) {
    const Tasks tasks{ops.data(), ops.size(), [](void* all, std::size_t i) { static_cast<Op<T>*>(all)[i].start(); },
                      [](void* all, std::size_t i) { return static_cast<Op<T>*>(all)[i].done(); }};
    return run_tasks(tasks);
  }

 private:
  friend class SimChannel;
  struct Tasks {
    void* all;
    std::size_t count;
    void (*start)(void* all, std::size_t i);
    bool (*done)(void* all, std::size_t i);
  };

  Status run_tasks(const Tasks& tasks);
  void start_all(const Tasks& tasks);
  void run_ready(Driver& driver);
  std::coroutine_handle<> take_ready();
  Status stuck(const Tasks& tasks) const;

  const SimOptions options_;
  std::mt19937_64 random_;
  std::vector<std::coroutine_handle<>> ready_;
  std::size_t next_ready_ = 0;                       // where not shuffled
  std::vector<std::weak_ptr<SimChannel>> channels_;  // of the groups and all their duplicates
  std::vector<std::unique_ptr<Group>> groups_;
  Status failure_;  // the first mismatch of collectives
};

}  // namespace thalweg
