// Whether a caller wants work that takes long to go on.
#pragma once

#include <cstdint>
#include <functional>

namespace thalweg {

// Asked now and then; false: the work ends with Code::stopped. Empty: it goes on.
using GoOn = std::function<bool()>;
inline constexpr std::uint64_t kAskEach = 1024;  // entries, pieces or rows: a caller must be heard within 200 ms

// Counts the steps of one work and asks at each kAskEach of them. After a refusal it is false for good.
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
