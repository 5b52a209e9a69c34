#include "engine/range_gate.hpp"

#include <algorithm>

namespace thalweg {

bool RangeGate::try_enter(FileDomain range, Writing how) {
  const std::lock_guard lock(mutex_);
  for (const Held& other : held_) {
    const bool apart = other.range.end <= range.begin || range.end <= other.range.begin;
    if (!apart && (how == Writing::rewrite || other.how == Writing::rewrite)) return false;
  }
  held_.push_back({range, how});
  return true;
}

void RangeGate::leave(FileDomain range, Writing how) {
  const std::lock_guard lock(mutex_);
  const auto mine = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return held.range.begin == range.begin && held.range.end == range.end && held.how == how;
  });
  *mine = held_.back();
  held_.pop_back();
}

}  // namespace thalweg
