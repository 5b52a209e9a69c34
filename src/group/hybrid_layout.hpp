// Which ranks live in which process, and how the data of one process's threads travels as one piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

// Up to here memory is taken for granted.
constexpr std::size_t kHybridSmallBytes = 64 * 1024;

// The same for all threads of a process; O(processes) words.
struct HybridLayout {
  std::vector<TaskRank> begin;  // first rank of each process (task of the group of processes); one more at the end
  std::int64_t mine = 0;        // this process
  Place place;
  bool relays = false;  // the group of processes does (relaying.hpp)

  TaskRank tasks() const { return begin.back(); }
  std::int64_t process_of(TaskRank rank) const {
    return std::upper_bound(begin.begin(), begin.end(), rank) - begin.begin() - 1;
  }
  TaskRank thread_of(TaskRank rank) const { return rank - begin[static_cast<std::size_t>(process_of(rank))]; }
};

// What the leader finds out about all processes. Collective over `ranks`.
Op<Result<std::shared_ptr<HybridLayout>>> make_hybrid_layout(Group& ranks, TaskRank threads);

// Of the threads of one process: the lengths of their parts, then the parts.
Result<Bytes> pack_parts(const std::vector<const ByteView*>& shown);
// From what pack_parts made in each process, the parts of all tasks.
Gathered join_parts(const HybridLayout& layout, Gathered packed);
// For each process: whether the whole is large (a number), the lengths of its tasks' parts, the parts.
Result<Gathered> split_parts(const HybridLayout& layout, const Gathered& parts);

}  // namespace thalweg
