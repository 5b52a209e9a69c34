// Tasks that make different collective calls on one open file at once: each must get the error, and no later call may
// wait for another task. Used for threads, processes and ranks.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/thalweg.h"

namespace thalweg::test {

template <class Handle>
struct CallOn {
  const char* name;
  std::function<tw_status(Handle*)> call;
};

// The first call is the close.
inline const std::vector<CallOn<tw_file>>& calls_on_file() {
  static const std::vector<CallOn<tw_file>> all = {
      {"tw_file_close", [](tw_file* file) { return tw_file_close(&file); }},
      {"tw_file_sync", [](tw_file* file) { return tw_file_sync(file); }},
      {"tw_file_size",
       [](tw_file* file) {
         std::int64_t bytes = 0;
         return tw_file_size(file, &bytes);
       }},
      {"tw_file_truncate", [](tw_file* file) { return tw_file_truncate(file, 100); }},
      {"tw_file_preallocate", [](tw_file* file) { return tw_file_preallocate(file, 100, 0); }},
      {"tw_file_seek", [](tw_file* file) { return tw_file_seek(file, 0, SEEK_SET, nullptr); }},
      {"tw_file_set_view", [](tw_file* file) { return tw_file_set_view(file, 0, nullptr); }},
      {"tw_file_write_at_all", [](tw_file* file) { return tw_file_write_at_all(file, "abc", 3, 7); }},
      {"tw_file_read_all",
       [](tw_file* file) {
         char text[3];
         return tw_file_read_all(file, text, sizeof text, nullptr);
       }},
  };
  return all;
}

inline const std::vector<CallOn<tw_vpfile>>& calls_on_vpfile() {
  static const std::vector<CallOn<tw_vpfile>> all = {
      {"tw_vpfile_close", [](tw_vpfile* file) { return tw_vpfile_close(&file); }},
      {"tw_vpfile_flush_all", [](tw_vpfile* file) { return tw_vpfile_flush_all(file); }},
      {"tw_vpfile_sync_all", [](tw_vpfile* file) { return tw_vpfile_sync_all(file); }},
      {"tw_vpfile_write_all",
       [](tw_vpfile* file) {
         char text[40] = {};
         return tw_vpfile_write_all(file, TW_VPFILE_PACKED(text, 4), nullptr, nullptr);
       }},
      {"tw_vpfile_gets_all",
       [](tw_vpfile* file) {
         char text[40] = {};
         return tw_vpfile_gets_all(file, text, 4, nullptr, nullptr);
       }},
  };
  return all;
}

// All forms of access count as one call.
inline bool are_one_call(std::string_view one, std::string_view other) {
  const auto is_access = [](std::string_view name) {
    return name == "tw_file_write_at_all" || name == "tw_file_read_all";
  };
  return one == other || (is_access(one) && is_access(other));
}

inline void expect_said(const std::string& words) {
  EXPECT_NE(std::string_view(tw_last_error()).find(words), std::string_view::npos) << tw_last_error();
}

// A nonblocking call fails at once when no other task takes part.
inline void requests_fail_at_once(tw_file* file) {
  tw_request* request = nullptr;
  EXPECT_EQ(tw_file_iwrite_at_all(file, "abc", 3, 0, &request), TW_OK);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
}
inline void requests_fail_at_once(tw_vpfile*) {}

// Task `odd` calls `one`, the others call `other`. Afterwards each task continues alone; a call that waited for another
// task would hang. The handle is consumed.
template <class Handle>
void refuse(Handle* file, int task, int odd, const CallOn<Handle>& one, const CallOn<Handle>& other,
            const std::vector<CallOn<Handle>>& all) {
  const CallOn<Handle>& close = all.front();
  const CallOn<Handle>& mine = task == odd ? one : other;
  EXPECT_EQ(mine.call(file), TW_ERR_INVALID);
  expect_said("task " + std::to_string(odd) + " is in " + one.name);
  expect_said(std::string(" is in ") + other.name);
  if (&mine == &close) return;
  const CallOn<Handle>& later = all[1 + static_cast<std::size_t>(task) % (all.size() - 1)];
  EXPECT_EQ(later.call(file), TW_ERR_INVALID) << later.name;
  if (&one == &close) expect_said("task " + std::to_string(odd) + " has left");
  requests_fail_at_once(file);
  EXPECT_EQ(close.call(file), TW_ERR_INVALID);
}

// Tries all pairs of different calls with `tasks` tasks; `world(body)` runs body(file, task) on all of them.
template <class Handle, class World>
void refuse_all_pairs(int tasks, const std::vector<CallOn<Handle>>& all, const World& world) {
  const int odd = tasks % 2 == 0 ? tasks - 1 : 0;
  for (const CallOn<Handle>& one : all) {
    for (const CallOn<Handle>& other : all) {
      if (are_one_call(one.name, other.name)) continue;
      SCOPED_TRACE(std::string(one.name) + " by task " + std::to_string(odd) + ", " + other.name + " by the others");
      world([&](Handle* file, int task) { refuse(file, task, odd, one, other, all); });
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace thalweg::test
