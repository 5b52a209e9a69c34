// Elapsed time in seconds, also per lap.
#pragma once

#include <chrono>

namespace probe {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since its construction or the last query.
class Lap {
 public:
  double operator()() {
    const double since = last_;
    last_ = now();
    return last_ - since;
  }

 private:
  double last_ = now();
};

}  // namespace probe
