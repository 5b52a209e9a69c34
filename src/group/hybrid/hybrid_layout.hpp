// The ranks of each process, and the packing of the data of one process's threads into one piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

// Up to this size of a task's part the tasks do not agree on memory.
constexpr std::size_t kHybridSmallPart = 112;

// Equal for all threads of a process; O(processes) words.
struct HybridLayout {
  // First rank of each process (a task of the group of processes), and one more at the end
  std::vector<TaskRank> begin;
  std::int64_t mine = 0;  // this process
  Place place;
  bool relays = false;  // Group::relays of the group of processes

  TaskRank tasks() const { return begin.back(); }
  std::int64_t process_of(TaskRank rank) const {
    return std::upper_bound(begin.begin(), begin.end(), rank) - begin.begin() - 1;
  }
  TaskRank thread_of(TaskRank rank) const { return rank - begin[static_cast<std::size_t>(process_of(rank))]; }
};

// Shared by the threads of a process in one group.
struct HybridProcess {
  std::shared_ptr<const HybridLayout> layout;
  std::vector<const void*> shown;  // address from each thread for the leader, in the current collective
};
std::shared_ptr<HybridProcess> share_layout(std::shared_ptr<const HybridLayout> layout);

// The objects that the threads of a process pass to the leader. Null: a thread has no memory for the result.
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

// Collects the data of all processes on their leaders. Collective over `ranks`; out of memory may fail on this task
// alone.
Op<Result<std::shared_ptr<HybridProcess>>> find_layout(Group& ranks, TaskRank threads);

// Packs the parts of the threads of one process: their lengths, then the parts.
Result<Bytes> pack_parts(const Shown<ByteView>& shown);
// Unpacks the parts of all tasks from the results of pack_parts of each process. `all` has room for their begins.
void join_parts(const HybridLayout& layout, Gathered packed, Gathered& all);
// For each process: whether any part is large (a number), the lengths of its tasks' parts, the parts.
Result<Gathered> split_parts(const HybridLayout& layout, const Gathered& parts);
// The part of one task within the data of its process, and whether any part is large.
struct SplitPart {
  ByteView data;
  bool large;
};
SplitPart part_of_split(ByteView packed, std::int64_t threads, std::int64_t thread);

}  // namespace thalweg
