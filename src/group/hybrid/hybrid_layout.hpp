// Which ranks live in which process, and how the data of one process's threads travels as one piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

// Of a task: up to here memory is taken for granted.
constexpr std::size_t kHybridSmallPart = 112;

// The same for all threads of a process; O(processes) words.
struct HybridLayout {
  std::vector<TaskRank> begin;  // first rank of each process (task of the group of processes); one more at the end
  std::int64_t mine = 0;        // this process
  Place place;
  bool relays = false;  // the group of processes does (Group::relays)

  TaskRank tasks() const { return begin.back(); }
  std::int64_t process_of(TaskRank rank) const {
    return std::upper_bound(begin.begin(), begin.end(), rank) - begin.begin() - 1;
  }
  TaskRank thread_of(TaskRank rank) const { return rank - begin[static_cast<std::size_t>(process_of(rank))]; }
};

// What the threads of a process share, of one group.
struct HybridProcess {
  std::shared_ptr<const HybridLayout> layout;
  std::vector<const void*> shown;  // by each thread to the leader, in the collective under way
};
std::shared_ptr<HybridProcess> share_layout(std::shared_ptr<const HybridLayout> layout);

// What the threads of a process show. Null: a thread has no memory for what is to come.
template <class T>
class Shown {
 public:
  explicit Shown(const HybridProcess& process) : shown_(process.shown) {}
  std::size_t size() const { return shown_.size(); }
  const T* operator[](std::int64_t thread) const {
    return static_cast<const T*>(shown_[static_cast<std::size_t>(thread)]);
  }

 private:
  const std::vector<const void*>& shown_;
};

// What the leader finds out about all processes. Collective over `ranks`; where memory is short this task may fail
// alone.
Op<Result<std::shared_ptr<HybridProcess>>> find_layout(Group& ranks, TaskRank threads);

// Of the threads of one process: the lengths of their parts, then the parts.
Result<Bytes> pack_parts(const Shown<ByteView>& shown);
// From what pack_parts made in each process, the parts of all tasks. `all` has room for where they begin.
void join_parts(const HybridLayout& layout, Gathered packed, Gathered& all);
// For each process: whether any part is large (a number), the lengths of its tasks' parts, the parts.
Result<Gathered> split_parts(const HybridLayout& layout, const Gathered& parts);
// Of one task, in what its process got; whether any is large.
struct SplitPart {
  ByteView data;
  bool large;
};
SplitPart part_of_split(ByteView packed, std::int64_t threads, std::int64_t thread);

}  // namespace thalweg
