// Meeting place of the simulated tasks of one group: performs the collectives.
//
// Invariant: between two collectives `arrived_` is 0 and tasks_ has no entry. One thread, no locks.
#pragma once

#include <coroutine>
#include <memory>
#include <vector>

#include "sim/sim_group.hpp"

namespace thalweg {

enum class SimCall {
  barrier,
  broadcast,
  gather,
  scatter,
  allgather,
  allreduce,
  fold,
  exchange,
  share,
  duplicate,
  channel
};
const char* name_of(SimCall call);

// Result of a collective; each task takes its share when it resumes.
struct SimOutcome {
  Status status;
  Bytes bytes;                                 // broadcast
  Gathered parts;                              // gather, scatter, allgather
  std::vector<std::int64_t> numbers;           // allreduce
  std::vector<Message> messages;               // exchange: sorted by receiver, then source
  std::vector<std::size_t> messages_begin;     // first message of each receiver, size + 1 entries
  std::vector<std::shared_ptr<void>> objects;  // share: one per process
  std::shared_ptr<SimChannel> channel;         // duplicate
};

// Arguments of a task in a collective: co_await it. Lives in the frame of the waiting coroutine.
struct SimArrival {
  SimChannel& channel;
  TaskRank rank;
  SimCall call;
  TaskRank root = 0;
  void* input = nullptr;  // its type depends on `call`, see sim_channel.cpp
  Reduction how = Reduction::sum;
  std::shared_ptr<SimOutcome> outcome = nullptr;
  std::coroutine_handle<> waiter = nullptr;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  SimOutcome& await_resume() const { return *outcome; }
};

// Arguments of a task in a fold.
struct SimFold {
  void* mine;
  void* before;
  Folding how;
};

class SimChannel {
 public:
  static std::shared_ptr<SimChannel> make(SimWorld& world);
  explicit SimChannel(SimWorld& world) : world_(world), tasks_(static_cast<std::size_t>(world.size())) {}

  const SimOptions& options() const { return world_.options_; }
  TaskRank size() const { return world_.size(); }
  TaskRank arrived() const { return arrived_; }
  void arrive(SimArrival& arrival);
  std::string describe() const;  // the waiting tasks and their calls, for a report

 private:
  template <class T>
  T& input(TaskRank rank) const {
    return *static_cast<T*>(tasks_[static_cast<std::size_t>(rank)]->input);
  }
  void finish(const SimArrival& last);
  void count(const SimArrival& last);
  template <class SizeOf>
  std::vector<std::uint64_t> sizes(SizeOf&& size_of) const;
  void perform(const SimArrival& last, SimOutcome& outcome);
  void join_parts(SimOutcome& outcome);
  void take_scattered(TaskRank root, SimOutcome& outcome);
  void reduce(Reduction how, SimOutcome& outcome);
  void fold();
  void sort_messages(SimOutcome& outcome);
  void make_objects(SimOutcome& outcome);
  bool matches(const SimArrival& arrival) const;

  SimWorld& world_;
  std::vector<SimArrival*> tasks_;  // by rank; null where not arrived
  TaskRank arrived_ = 0;
  TaskRank first_ = 0;  // first to arrive; the others must make an equal call
};

}  // namespace thalweg
