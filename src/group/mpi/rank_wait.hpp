// How a rank waits for MPI, which it has to ask again and again.
//
// Ranks may outnumber cores, so a waiting one gives its core away: at once to whoever is ready, after a while for good,
// and much sooner where they do. Where nobody else wants the core that while is a millisecond: a sleep of 1 us takes
// 80, longer than most waits. MPI moves data, and the many steps of a collective, only while it is called: hence the
// short limit of a sleep, and the looks between two of them.
#pragma once

#include <algorithm>
#include <chrono>

namespace thalweg {

// Whether others want the core of a thread, as far as its yields tell: one that takes long gave it to somebody.
class OwnCore {
 public:
  void yielded(std::chrono::nanoseconds time) {
    if (time > kSwitch) {
      wanted_ = kRemembered;
    } else if (wanted_ > 0) {
      --wanted_;
    }
  }
  bool is_quiet() const { return wanted_ == 0; }

  static constexpr std::chrono::microseconds kSwitch{200};  // less than a time slice
  static constexpr unsigned kRemembered = 10'000;           // yields, some 7 ms

 private:
  unsigned wanted_ = 0;
};

// One wait: from one sign of progress to the next.
class RankWait {
 public:
  static constexpr unsigned kQuietRounds = 1500;  // a millisecond
  static constexpr unsigned kLooks = 8;           // for each sleep
  static constexpr unsigned kCrowd = 16;
  static constexpr unsigned kLongestSleepUs = 200;

  // What to do after a look in vain: sleep so long, or yield (0). `patience`: rounds before the first sleep, where the
  // core is neither quiet nor one of a crowded node.
  std::chrono::microseconds next(unsigned patience, bool crowd, bool quiet) {
    quiet = quiet && !crowd;
    if (crowd) patience /= kCrowd;
    if (quiet) patience = std::max(patience, kQuietRounds);
    ++rounds_;
    if (rounds_ < patience || (quiet && rounds_ % kLooks != 0)) return {};
    sleeps_ = std::min(sleeps_ + 1, kLongestSleepUs);
    return std::chrono::microseconds(sleeps_);
  }

 private:
  unsigned rounds_ = 0;
  unsigned sleeps_ = 0;
};

}  // namespace thalweg
