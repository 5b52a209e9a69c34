// Runs a function on n threads that form a team, and times it.
#ifndef BENCH_SUPPORT_TASKS_HPP
#define BENCH_SUPPORT_TASKS_HPP

#include <functional>
#include <thalweg/thalweg.hpp>

namespace bench {

// One task of a team with its group handle.
struct Task {
  int rank;
  int size;
  const thalweg::Group& group;
};

// Calls `work` on `n` new threads. Returns the seconds from the first start to the last end, without creating threads
// and groups. An exception ends the program, as other tasks may wait for the failed one.
double time_tasks(int n, const std::function<void(const Task&)>& work);

// Share of task `rank` of `size` in `total` items: those from first on.
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
