// Runs the same work on n threads that form a team, and times it.
#ifndef BENCH_SUPPORT_TASKS_HPP
#define BENCH_SUPPORT_TASKS_HPP

#include <functional>
#include <thalweg/thalweg.hpp>

namespace bench {

// One task of a team; the group handle is its own.
struct Task {
  int rank;
  int size;
  const thalweg::Group& group;
};

// Calls `work` on `n` new threads. Returns the seconds from the first start to the last end; making the threads and
// their groups is not counted. A task that throws ends the program: the others may wait for it.
double time_tasks(int n, const std::function<void(const Task&)>& work);

// Share of `total` things that task `rank` of `size` gets: those from first on.
struct Share {
  std::int64_t first;
  std::int64_t count;
};
inline Share share_of(std::int64_t total, int rank, int size) {
  const std::int64_t first = total * rank / size;
  return {first, total * (rank + 1) / size - first};
}

}  // namespace bench

#endif
