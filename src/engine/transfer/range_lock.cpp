#include "engine/transfer/range_lock.hpp"

namespace thalweg {

bool RangeLock::try_lock(Hold& hold) {
  const std::lock_guard guard(mutex_);
  for (const Hold* other = first_; other != nullptr; other = other->after) {
    const bool apart = other->range.end <= hold.range.begin || hold.range.end <= other->range.begin;
    if (!apart && (hold.exclusive || other->exclusive)) return false;
  }
  hold.before = nullptr;
  hold.after = first_;
  if (first_ != nullptr) first_->before = &hold;
  first_ = &hold;
  return true;
}

void RangeLock::unlock(Hold& hold) {
  const std::lock_guard guard(mutex_);
  (hold.before != nullptr ? hold.before->after : first_) = hold.after;
  if (hold.after != nullptr) hold.after->before = hold.before;
}

WaitPoint RangeLock::locked(Hold& hold) {
  hold.lock = this;
  const auto ready = [](void* subject) {
    auto& wanted = *static_cast<Hold*>(subject);
    return wanted.lock->try_lock(wanted);
  };
  return {ready, nullptr, &hold};
}

}  // namespace thalweg
