// Elapsed time in seconds.
#pragma once

#include <chrono>

namespace probe {

// Seconds since its construction or the last query.
class Lap {
 public:
  double operator()() {
    const Clock::time_point since = last_;
    last_ = Clock::now();
    return std::chrono::duration<double>(last_ - since).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace probe
