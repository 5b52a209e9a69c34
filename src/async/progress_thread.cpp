// The progress thread: its start, its steps and its sleeps. It never ends.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "async/last_words.hpp"
#include "async/progress.hpp"
#include "os/threads.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using std::chrono::microseconds;
constexpr microseconds kLongInQueue{500};  // time under the lock
// Pause after a start has woken the thread. The kernel often gives it the core of the thread that woke it; the pause
// returns the core, so that the start can return. A first step may take long: 0.4 ms for 8 MiB into the page cache.
constexpr microseconds kAfterStart{50};
// The limits keep the delay for a message of another task in a round of some milliseconds below a millisecond.
constexpr Backoff::Limits kPauses{.yields = false, .shortest = microseconds(50)};

// Runs once, on the progress thread. A failure goes to standard error: no call could return it.
void bind_as_wished() {
  const char* const wish = std::getenv("THALWEG_PROGRESS_CORE");
  const std::string_view text = wish != nullptr ? wish : "";
  if (text.empty()) return;
  int core = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error == std::errc{} && end == text.data() + text.size() && bind_this_thread(core)) return;
  std::fprintf(stderr,
               "thalweg: THALWEG_PROGRESS_CORE='%s' is not the number of a core that this process may use; the "
               "progress thread is not bound\n",
               wish);
}

}  // namespace

// Whether the progress thread exists or could be started.
bool Progress::has_thread() {
  const std::lock_guard lock(incoming_mutex_);
  if (has_thread_) return true;
  const SignalsBlocked blocked;  // signal handlers of the program run on its own threads
  try {
    std::thread([this] { serve(); }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return has_thread_;
}

void Progress::serve() try {
  name_this_thread("tw-progress");
  bind_as_wished();
  sleep_exactly();
  Backoff backoff(kPauses);
  microseconds pause{0};
  while (true) {
    if (sleep(pause)) {
      sleep_for(kAfterStart);
      if (waiters_.load() > 0) continue;
      backoff.reset();
    }
    if (starters_.load(std::memory_order_relaxed) > 0) {
      yield_core();
      continue;
    }
    const std::lock_guard lock(mutex_);
    pause = step_or_wait(backoff);
  }
} catch (...) {
  end_on_exception();
}

// mutex_ is held. Returns the time to sleep before the next step.
microseconds Progress::step_or_wait(Backoff& backoff) {
  if (step()) {
    backoff.reset();
    return {};
  }
  const microseconds pause = backoff.next();
  if (!queues_.has_value() || queues_->in_flight() == 0) return pause;
  const std::size_t before = queues_->in_flight();
  queues_->wait(std::min(pause, kLongInQueue));
  if (queues_->in_flight() < before) backoff.reset();
  return {};
}

// Sleeps while nothing is outstanding or a waiting thread advances it; then for `pause`, unless a request arrives.
// True: it slept for long, or a request has arrived.
bool Progress::sleep(microseconds pause) {
  std::unique_lock lock(incoming_mutex_);
  const auto is_needed = [this] { return waiters_.load() == 0 && outstanding_.load() != 0; };
  const bool sleeps = !is_needed();
  arrived_.wait(lock, is_needed);
  if (!sleeps && pause.count() > 0) arrived_.wait_for(lock, pause, [this] { return !incoming_.empty(); });
  return sleeps || !incoming_.empty();
}

}  // namespace thalweg
