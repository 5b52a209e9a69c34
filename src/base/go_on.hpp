// Lets a caller stop work that takes long.
#pragma once

#include <cstdint>
#include <functional>

namespace thalweg {

// Called from time to time; false ends the work with Code::stopped. Empty: the work never stops early.
using GoOn = std::function<bool()>;
inline constexpr std::uint64_t kAskEach = 1024;  // entries, pieces or rows: a stop takes effect within 200 ms

// Counts the steps of one work and calls the function at each kAskEach of them. Stays false after a refusal.
class Steps {
 public:
  explicit Steps(const GoOn& asked) : asked_(asked) {}  // borrowed
  bool go_on() { return ++n_ % kAskEach == 0 ? go_on_now() : !stopped_; }
  bool go_on_now() {
    stopped_ = stopped_ || (asked_ && !asked_());
    return !stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  const GoOn& asked_;
  std::uint64_t n_ = 0;
  bool stopped_ = false;
};

}  // namespace thalweg
