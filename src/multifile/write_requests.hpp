// The requests of all tasks when a multifile is opened for writing, gathered by task 0.
//
// A request travels as its difference from what it would be if all tasks were alike, and task 0 keeps the bytes as they
// arrived: about 13 bytes of each task, so that a million tasks fit into the memory of one.
#pragma once

#include <vector>

#include "base/wire.hpp"
#include "multifile/rank_ranges.hpp"

namespace thalweg {

struct WriteRequest {
  Status status;                // of the task's own arguments
  std::uint32_t arguments = 0;  // hash of what must be the same on all tasks
  std::uint64_t n_logical = 0;
  std::uint64_t chunk_bytes = kAuto;
  std::int64_t process = 0;
  std::int64_t node = 0;
  std::vector<RankRange> ranges;  // in the order in which the task names its ranks
};
// The request of task `task` of `tasks`.
Bytes encode(const WriteRequest& request, std::size_t task, std::size_t tasks);

// The requests of all tasks, decoded one after the other.
class WriteRequests {
 public:
  // Fails for the first task whose arguments are wrong or differ from those of task 0, and where two tasks serve a
  // rank.
  static Result<WriteRequests> decode(Gathered gathered);
  std::size_t tasks() const { return tasks_; }
  std::uint64_t n_logical() const { return n_logical_; }
  std::int64_t root_process() const { return root_process_; }  // the process of task 0
  std::int64_t nodes() const { return nodes_; }

  // Calls fn(task, request) for each task, by rank. The request is overwritten by the next one.
  template <class F>
  void for_each(F&& fn) const {
    WireReader in(data_);
    WriteRequest request;
    for (std::size_t task = 0; task < tasks_; ++task) {
      read(in, task, tasks_, request);
      fn(task, request);
    }
  }

 private:
  static void read(WireReader& in, std::size_t task, std::size_t tasks, WriteRequest& out);
  Status check(ByteView encoded, std::size_t task, WriteRequest& request);

  Bytes data_;
  std::size_t tasks_ = 0;
  std::uint32_t arguments_ = 0;
  std::uint64_t n_logical_ = 0;
  std::int64_t root_process_ = 0;
  std::int64_t nodes_ = 0;
};

}  // namespace thalweg
