// Backoff: waits for another thread, rank or device by polling.
//
// spin    some microseconds: the partner runs on another core and is almost ready
// yield   a millisecond: waking a core takes 25 to 80 us, longer than most waits, and a yield gives the core away
// sleep   an eighth of the wait so far, within limits: the end of a long wait is noticed 12 % late
//
// Where tasks outnumber the cores, spinning takes time from the tasks that are waited for: there the thread does not
// spin, and yields for 200 us. A yield as long as a time slice of a foreign thread ends the yielding, of this wait and of
// those of the next milliseconds.
#pragma once

#include <chrono>

#include "base/visibility.hpp"
#include "os/wait.hpp"

namespace thalweg {

class TW_SHARED Backoff {
 public:
  using microseconds = std::chrono::microseconds;
  struct Limits {
    bool yields = true;  // false: sleeps at once; for a background thread, which must not disturb computing threads
    microseconds shortest{1};
    microseconds longest{1000};
  };

  Backoff() = default;
  explicit Backoff(Limits limits, bool crowded = false) : limits_(limits), crowded_(crowded) {}

  // Called after an unsuccessful poll. Returns 0 when it has yielded and the caller polls again at once, else how
  // long the caller sleeps first.
  microseconds next();
  void wait() {
    if (const microseconds pause = next(); pause.count() > 0) sleep_for(pause);
  }
  // Called after a successful poll: the next unsuccessful one begins a new wait.
  void reset() { looks_ = 0; }

  // Begins a wait that only spins and yields, as long as this is worthwhile. Returns whether `ready()` became true.
  template <class Ready>
  bool spin(Ready&& ready) {
    for (int i = 0; i < kSpins && !is_crowded(); ++i) {
      if (ready()) return true;
      cpu_relax();
    }
    reset();
    do {
      if (ready()) return true;
    } while (next().count() == 0);
    return ready();
  }

  // Stops long spins and yields in this whole process: the tasks of the node outnumber its cores.
  static void tasks_outnumber_cores();

  static constexpr int kSpins = 512;  // about 5 us
  static constexpr microseconds kYielding{1000};
  static constexpr microseconds kYieldingCrowded{200};

 private:
  using Clock = std::chrono::steady_clock;
  bool is_crowded() const;

  Limits limits_;
  bool crowded_ = false;  // per wait: other threads of the process may have cores of their own
  unsigned looks_ = 0;
  Clock::time_point begin_{};
};

}  // namespace thalweg
