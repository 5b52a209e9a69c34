// Work that takes long: a caller may stop it, and a check or repair of a file reports to its caller, during the work and
// at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

struct Watch {
  std::function<void(const std::string& finding)> finding;  // may be empty
  // Bytes done and in total of the current step; may be empty. Returning false ends the work with Code::stopped.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  GoOn go_on = {};  // called during work of unknown length; may be empty
};

struct CheckResult {
  std::uint64_t n_logical = 0;
  std::uint64_t damaged_logical = 0;
  std::uint64_t logical_bytes = 0;  // sum over intact logical files
  std::uint64_t findings = 0;
  bool closed = false;
  bool repaired = false;
};

}  // namespace thalweg
