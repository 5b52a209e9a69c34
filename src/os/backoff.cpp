#include "os/backoff.hpp"

#include <algorithm>
#include <atomic>

namespace thalweg {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

std::atomic<bool> crowded_node{false};

// Detects contention for this core. A yield that takes longer than a context switch means that another thread had the
// core; this thread then stops spinning and yielding for a while, four times as long when it happens again soon.
struct Core {
  static constexpr microseconds kSwitch{200};
  static constexpr microseconds kFirst{1000};
  static constexpr microseconds kMost{256'000};

  Clock::time_point wanted_until{};
  microseconds penalty{kFirst};

  void yield(Clock::time_point before) {
    yield_core();
    const auto after = Clock::now();
    if (after - before <= kSwitch) return;
    const bool soon = before - wanted_until < 4 * penalty;
    penalty = soon ? std::min(4 * penalty, kMost) : kFirst;
    wanted_until = after + penalty;
  }
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Core core;

}  // namespace

void Backoff::tasks_outnumber_cores() { crowded_node.store(true, std::memory_order_relaxed); }

bool Backoff::is_crowded() const { return crowded_ || crowded_node.load(std::memory_order_relaxed); }

microseconds Backoff::next() {
  const auto now = Clock::now();
  if (looks_++ == 0) begin_ = now;
  const auto waited = now - begin_;
  const bool yields = waited < (is_crowded() ? kYieldingCrowded : kYielding);
  if (limits_.yields && yields && now >= core.wanted_until) {
    core.yield(now);
    return {};
  }
  return std::clamp(std::chrono::duration_cast<microseconds>(waited / 8), limits_.shortest, limits_.longest);
}

}  // namespace thalweg
