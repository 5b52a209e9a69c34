// Backoff: how a thread waits for what only another thread, rank or device brings about, looking again and again.
//
//   spin    some microseconds: the partner runs on another core and is about to come
//   yield   a millisecond: waking a core up takes 25 to 80 us, longer than most waits, and a yield gives the core away
//   sleep   an eighth of the wait so far, within limits: the end of a long wait is noticed 12 % late
//
// Where tasks outnumber the cores, spinning and yielding take the time of those that are waited for: then the thread
// sleeps after a few yields. A yield that took so long that a foreign thread must have had the core for a time slice
// ends the yielding, of this wait and of those of some milliseconds.
#pragma once

#include <chrono>

#include "base/visibility.hpp"
#include "os/wait.hpp"

namespace thalweg {

class TW_SHARED Backoff {
 public:
  using microseconds = std::chrono::microseconds;
  struct Limits {
    bool yields = true;  // false: sleeps at once, for a thread that computes nothing and must disturb nobody
    microseconds shortest{1};
    microseconds longest{1000};
  };

  Backoff() = default;
  explicit Backoff(Limits limits, bool crowded = false) : limits_(limits), crowded_(crowded) {}

  // After a look in vain. 0: it has yielded, and the caller looks again; else how long the caller sleeps before that.
  microseconds next();
  void wait() {
    if (const microseconds pause = next(); pause.count() > 0) sleep_for(pause);
  }
  // Something happened: the next look in vain begins a new wait.
  void reset() { looks_ = 0; }

  // A new wait, as long as spinning or yielding is worth while. True: it has become `ready()`.
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

  // From now on no thread of this process spins or yields for long: the tasks of this node outnumber its cores.
  static void tasks_outnumber_cores();

  static constexpr int kSpins = 512;  // some 5 us
  static constexpr unsigned kFewYields = 16;
  static constexpr microseconds kYielding{1000};

 private:
  using Clock = std::chrono::steady_clock;
  bool is_crowded() const;

  Limits limits_;
  bool crowded_ = false;  // here; elsewhere in the process others may have cores of their own
  unsigned looks_ = 0;
  Clock::time_point begin_{};
};

}  // namespace thalweg
