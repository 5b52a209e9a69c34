// The interface of requests: start, advance, wait. Their implementation is in async/progress.cpp.
#include "async/request.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "async/callers.hpp"
#include "async/progress.hpp"

namespace thalweg {

ProgressMode default_progress() {
  static const ProgressMode mode = [] {
    const char* const wish = std::getenv("THALWEG_PROGRESS");
    const std::string_view chosen = wish != nullptr ? wish : "";
    if (chosen == "poll") return ProgressMode::poll;
    if (!chosen.empty() && chosen != "thread")
      std::fprintf(stderr, "thalweg: THALWEG_PROGRESS='%s' is neither thread nor poll; thread is used\n", wish);
    return ProgressMode::thread;
  }();
  return mode;
}

void start(std::shared_ptr<Request> request, ProgressMode mode) {
  switch (request->advancers()) {
    case Advancers::any:
      return Progress::of_process().start(std::move(request), mode);
    case Advancers::transport:
      return Progress::start_among_callers(std::move(request));
    case Advancers::starter:
      return Progress::carry_out(*request);
  }
}

ProgressMode effective_progress(Advancers who, ProgressMode asked) {
  return who == Advancers::any ? Progress::of_process().settle(asked) : ProgressMode::poll;
}

void advance_requests() { (void)Progress::advance_mine(); }

void advance(const Request& request) {
  // Advancing a request of the progress thread could mean moving its bytes here, but a test must return at once.
  if (Progress::is_left_to_thread(request)) {
    (void)Progress::advance_mine(&Progress::of_process());
    return yield_core();
  }
  if (&Progress::home_of(request) == &Progress::of_callers()) is_a_caller();
  advance_requests();
}

bool are_advanced_alike(const Request& a, const Request& b) {
  return &Progress::home_of(a) == &Progress::home_of(b) &&
         Progress::is_left_to_thread(a) == Progress::is_left_to_thread(b);
}

void wait_for(const Request& request) {
  if (request.done()) return;
  const Progress::Waiter waiter(request);
  Backoff backoff = Progress::backoff();
  while (!request.done()) Progress::wait_a_little(request, backoff);
}

void wait_for_any(std::span<const std::shared_ptr<Request>> requests) {
  Backoff backoff = Progress::backoff();
  std::optional<Progress::Waiter> waiter;
  while (true) {
    const Request* first = nullptr;
    for (const auto& request : requests) {
      if (request == nullptr) continue;
      if (request->done()) return;
      if (first == nullptr) first = request.get();
      if (&Progress::home_of(*request) != &Progress::home_of(*first)) advance(*request);
    }
    if (first == nullptr) return;
    if (!waiter.has_value()) waiter.emplace(*first);
    Progress::wait_a_little(*first, backoff);
  }
}

}  // namespace thalweg
