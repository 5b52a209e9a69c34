// Elapsed time in seconds.
#pragma once

#include <chrono>
#include <utility>

namespace probe {

// Seconds since its construction or the last query.
class Lap {
 public:
  double operator()() {
    const auto since = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - since).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace probe
