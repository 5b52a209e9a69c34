// What is asked of requests: to start, to advance, to be waited for. How it is done is in engine/progress/progress.cpp.
#include "engine/progress/request.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "async/callers.hpp"
#include "engine/progress/progress.hpp"
#include "group/relaying.hpp"
#include "os/wait.hpp"

namespace thalweg {

ProgressMode default_progress() {
  static const ProgressMode mode = [] {
    const char* const wish = std::getenv("THALWEG_PROGRESS");
    const std::string_view chosen = wish != nullptr ? wish : "";
    if (chosen == "poll") return ProgressMode::poll;
    if (chosen == "kernel") return ProgressMode::kernel;
    if (!chosen.empty() && chosen != "thread")
      std::fprintf(stderr, "thalweg: THALWEG_PROGRESS='%s' is none of thread, poll, kernel; it is taken for thread\n",
                   wish);
    return ProgressMode::thread;
  }();
  return mode;
}

ProgressMode mode_for(const Group& group, ProgressMode asked) {
  if (relays_messages(group)) return ProgressMode::at_call;
  return group.any_thread() ? asked : ProgressMode::own;
}

void start(std::shared_ptr<Request> request, ProgressMode mode) {
  if (mode == ProgressMode::at_call) return Progress::carry_out(*request);
  if (mode == ProgressMode::own) return Progress::start_among_some(std::move(request));
  Progress& progress = Progress::of_process();
  progress.start(std::move(request), progress.settle(mode));
}

ProgressMode effective_progress(const Group* group, ProgressMode asked) {
  const ProgressMode mode = group != nullptr ? mode_for(*group, asked) : asked;
  if (mode == ProgressMode::own || mode == ProgressMode::at_call) return mode;
  return Progress::of_process().settle(asked);
}

void advance_requests() { (void)Progress::advance_mine(); }

void advance(const Request& request) {
  // Whoever advances it may have to move its bytes himself, and a test is to return at once.
  if (Progress::is_left_to_thread(request)) {
    (void)Progress::advance_mine(&Progress::of_process());
    return yield_core();
  }
  if (&Progress::home_of(request) == &Progress::of_some()) is_a_caller();
  advance_requests();
}

void wait_for(const Request& request) {
  if (request.done()) return;
  const Progress::Attending attending(request);
  unsigned idle_rounds = 0;
  while (!request.done()) idle_rounds = Progress::wait_a_little(request, idle_rounds);
}

void wait_for_any(std::span<const std::shared_ptr<Request>> requests) {
  unsigned idle_rounds = 0;
  std::optional<Progress::Attending> attending;
  while (true) {
    const Request* first = nullptr;
    for (const auto& request : requests) {
      if (request == nullptr) continue;
      if (request->done()) return;
      if (first == nullptr) first = request.get();
      if (&Progress::home_of(*request) != &Progress::home_of(*first)) advance(*request);
    }
    if (first == nullptr) return;
    if (!attending.has_value()) attending.emplace(*first);
    idle_rounds = Progress::wait_a_little(*first, idle_rounds);
  }
}

bool TheirTurn::ready(void* self) {
  const auto* turn = static_cast<const TheirTurn*>(self);
  if (turn->position.is_turn(turn->ticket)) return true;
  if (!turn->group.any_thread()) is_a_caller();  // who waits here is about to make a collective of it
  advance_requests();
  return turn->position.is_turn(turn->ticket);
}

}  // namespace thalweg
