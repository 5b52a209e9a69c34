// A rank of two threads: each thread has a handle of the group of all threads of all ranks.
#ifndef BENCH_COLLECTIVE_TEAM_HPP
#define BENCH_COLLECTIVE_TEAM_HPP

#include <thalweg/thalweg.h>

#include <array>
#include <functional>
#include <thread>

#include "collective/ways.hpp"

namespace bench {

inline constexpr int kThreads = 2;
using Groups = std::array<tw_group*, kThreads>;

// Runs `work` on both threads, thread 0 being the calling one.
inline void on_both(const std::function<void(std::size_t thread)>& work) {
  const std::jthread other([&] { work(1); });
  work(0);
}

class Team {
 public:
  explicit Team(tw_group* ranks) {
    tw_team* team = nullptr;
    must_tw(tw_team_create(kThreads, &team), "tw_team_create");
    on_both([&](std::size_t t) {
      tw_group* threads = nullptr;
      must_tw(tw_group_team(team, static_cast<std::int64_t>(t), &threads), "tw_group_team");
      must_tw(tw_group_hybrid(threads, t == 0 ? ranks : nullptr, &groups_.at(t)), "tw_group_hybrid");
      tw_group_free(&threads);
    });
    tw_team_free(&team);
  }
  ~Team() {
    on_both([&](std::size_t t) { tw_group_free(&groups_.at(t)); });
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  const Groups& groups() const { return groups_; }

 private:
  Groups groups_{};
};

}  // namespace bench

#endif
