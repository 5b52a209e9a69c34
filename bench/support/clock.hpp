// Time in seconds on the monotonic clock.
#ifndef BENCH_SUPPORT_CLOCK_HPP
#define BENCH_SUPPORT_CLOCK_HPP

#include <chrono>

namespace bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that `work` takes.
template <class Work>
double seconds_of(Work&& work) {
  const double start = now();
  work();
  return now() - start;
}

}  // namespace bench

#endif
