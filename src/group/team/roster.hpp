// Roster: where the tasks of a team are blocked, in that team or in one of its duplicates (every open file has some).
//
// A team sees that its tasks make different calls when all of them have come. Where one waits in the team of a file and
// another one in that of a group, neither team is ever complete. So a task that has slept for long says so here, and
// the one that finds all tasks blocked ends the team and all its duplicates: nobody is left who could come.
//
// That is certain as long as one thread makes the calls of a task. Where several threads have made calls for one of
// the tasks (each with another handle, which is allowed), nothing is concluded.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/call.hpp"

namespace thalweg {

class Roster {
 public:
  // What a task waits for; `passed(team, epoch)` says whether it has come to pass.
  struct Wait {
    const void* team = nullptr;  // null: the task is not blocked
    std::uint32_t epoch = 0;
    bool (*passed)(const void* team, std::uint32_t epoch) = nullptr;
    const char* call = "";
    Call number = Call::none;
  };

  // May throw std::bad_alloc.
  explicit Roster(std::int64_t tasks) : tasks_(static_cast<std::size_t>(tasks)) {}
  // The calling thread makes a call for this task.
  TW_SHARED void note_thread(std::int64_t task);

  // By the thread that waits, before it goes on waiting. False where it is not the only one of its task; else it is
  // taken off before what it waits for can go.
  bool put(std::int64_t task, const Wait& wait);
  void take_off(std::int64_t task);

  // Whether all tasks were blocked: every collective of the team and of its duplicates fails from then on.
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  const Status& now() const { return now_; }
  const Status& later() const { return later_; }

 private:
  struct Task {
    std::atomic<const void*> thread{nullptr};  // the first one that has made a call for it
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
