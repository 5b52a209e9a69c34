#include "engine/transfer/range_gate.hpp"

namespace thalweg {

bool RangeGate::try_enter(Hold& hold) {
  const std::lock_guard lock(mutex_);
  for (const Hold* other = first_; other != nullptr; other = other->after) {
    const bool apart = other->range.end <= hold.range.begin || hold.range.end <= other->range.begin;
    if (!apart && (hold.how == Writing::rewrite || other->how == Writing::rewrite)) return false;
  }
  hold.before = nullptr;
  hold.after = first_;
  if (first_ != nullptr) first_->before = &hold;
  first_ = &hold;
  return true;
}

void RangeGate::leave(Hold& hold) {
  const std::lock_guard lock(mutex_);
  (hold.before != nullptr ? hold.before->after : first_) = hold.after;
  if (hold.after != nullptr) hold.after->before = hold.before;
}

}  // namespace thalweg
