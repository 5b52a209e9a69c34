#include "group/team/roster.hpp"

#include <algorithm>

namespace thalweg {

namespace {

// Its address identifies the thread.
[[gnu::tls_model("initial-exec")]] thread_local char this_thread = 0;

}  // namespace

void Roster::note_thread(std::int64_t task) {
  Task& mine = tasks_[static_cast<std::size_t>(task)];
  const void* seen = mine.thread.load(std::memory_order_relaxed);
  if (seen == &this_thread) return;
  if (seen == nullptr && mine.thread.compare_exchange_strong(seen, &this_thread, std::memory_order_relaxed)) return;
  mine.has_several.store(true, std::memory_order_relaxed);
}

bool Roster::put(std::int64_t task, const Wait& wait) {
  Task& mine = tasks_[static_cast<std::size_t>(task)];
  const bool only_one =
      mine.thread.load(std::memory_order_relaxed) == &this_thread && !mine.has_several.load(std::memory_order_relaxed);
  if (!only_one) return false;
  const std::lock_guard lock(mutex_);
  if (mine.wait.team == nullptr) ++n_blocked_;
  mine.wait = wait;
  if (n_blocked_ == tasks_.size() && !is_over() && nobody_can_go_on()) conclude();
  return true;
}

void Roster::take_off(std::int64_t task) {
  const std::lock_guard lock(mutex_);
  tasks_[static_cast<std::size_t>(task)].wait = {};
  --n_blocked_;
}

// A task whose wait is over has only not woken up yet. A task with several threads may arrive by another one.
bool Roster::nobody_can_go_on() const {
  return std::none_of(tasks_.begin(), tasks_.end(), [](const Task& task) {
    return task.has_several.load(std::memory_order_relaxed) || task.wait.passed(task.wait.team, task.wait.epoch);
  });
}

void Roster::conclude() {
  CallsOfAll calls;
  for (std::size_t i = 0; i < tasks_.size(); ++i) calls.join({tasks_[i].wait.number, static_cast<std::int64_t>(i)});
  if (calls.differ()) {
    now_ = calls.now();
    later_ = calls.later();
  } else {
    std::size_t other = 1;
    while (other + 1 < tasks_.size() && tasks_[other].wait.team == tasks_[0].wait.team) ++other;
    const TwoCalls two{0, static_cast<std::int64_t>(other), tasks_[0].wait.call, tasks_[other].wait.call};
    now_ = different_handles(two);
    later_ = out_of_step(two, false);
  }
  over_.store(true, std::memory_order_release);
}

}  // namespace thalweg
