// Roster: which tasks of a team are blocked, in the team or in one of its duplicates (each open file has some).
//
// A team detects different calls when all of its tasks have arrived. If one task waits in the team of a file and
// another in that of a group, neither team is ever complete. So a task that has waited for long enters its wait here,
// and the task that finds all tasks blocked ends the team and all its duplicates.
//
// The conclusion holds as long as one thread makes the calls of a task. Where several threads have made calls for a
// task (each with another handle, which is allowed), nothing is concluded.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/call.hpp"

namespace thalweg {

class Roster {
 public:
  // The wait of a task; `passed(team, epoch)` returns whether it is over.
  struct Wait {
    const void* team = nullptr;  // null: the task is not blocked
    std::uint32_t epoch = 0;
    bool (*passed)(const void* team, std::uint32_t epoch) = nullptr;
    const char* call = "";
    Call number = Call::none;
  };

  // May throw std::bad_alloc.
  explicit Roster(std::int64_t tasks) : tasks_(static_cast<std::size_t>(tasks)) {}
  // Records that the calling thread makes a call for this task.
  TW_SHARED void note_thread(std::int64_t task);

  // Called by the waiting thread before it goes on waiting. False where it is not the only thread of its task;
  // otherwise the entry must be removed before the team is destroyed.
  bool put(std::int64_t task, const Wait& wait);
  void take_off(std::int64_t task);

  // Whether all tasks were blocked: every collective of the team and of its duplicates fails from then on.
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  const Status& now() const { return now_; }
  const Status& later() const { return later_; }

 private:
  struct Task {
    std::atomic<const void*> thread{nullptr};  // the first thread that made a call for the task
    std::atomic<bool> has_several{false};
    Wait wait;  // guarded by mutex_
  };
  bool nobody_can_go_on() const;
  void conclude();

  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::size_t n_blocked_ = 0;  // guarded by mutex_
  Status now_, later_;         // set before over_
  std::atomic<bool> over_{false};
};

}  // namespace thalweg
