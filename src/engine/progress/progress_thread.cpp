// The progress thread: how it is made, when it advances the operations of the process, and how long it sleeps between.
// It never ends.
#include "engine/progress/progress.hpp"

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
#include "os/threads.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using std::chrono::microseconds;
constexpr microseconds kLong{1000};
constexpr microseconds kLongInQueue{500};  // under the lock
constexpr microseconds kShortest{50};
constexpr int kPatience = 8;
constexpr microseconds kAfterYou{50};

// The progress thread, once: there is no call that could return it.
void bind_as_wished() {
  const char* const wish = std::getenv("THALWEG_PROGRESS_CORE");
  const std::string_view text = wish != nullptr ? wish : "";
  if (text.empty()) return;
  int core = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error == std::errc{} && end == text.data() + text.size() && bind_this_thread(core)) return;
  std::fprintf(stderr,
               "thalweg: THALWEG_PROGRESS_CORE='%s' is no number of a core that this process may use; the progress "
               "thread is not bound\n",
               wish);
}

}  // namespace

// How long the progress thread sleeps between looks: an eighth of how long nothing has happened. What others are waited
// for in a round of some milliseconds, such as a message, is then not found a millisecond late.
class Progress::Pace {
 public:
  void something_happened() { last_ = Clock::now(); }
  microseconds pause() const {
    const auto idle = std::chrono::duration_cast<microseconds>(Clock::now() - last_);
    return std::clamp(idle / kPatience, kShortest, kLong);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// mutex_ is held.
Progress::Stepped Progress::step_or_wait(const Pace& pace) {
  if (step()) return Stepped::done_something;
  if (!queues_.has_value() || queues_->in_flight() == 0) return Stepped::nothing_to_do;
  const std::size_t before = queues_->in_flight();
  queues_->wait(std::min(pace.pause(), kLongInQueue));
  return queues_->in_flight() < before ? Stepped::done_something : Stepped::slept;
}

// Whether there is the progress thread, or could be made.
bool Progress::has_thread() {
  const std::lock_guard lock(incoming_mutex_);
  if (has_thread_) return true;
  const SignalsBlocked blocked;  // the program's handlers run on the program's threads
  try {
    std::thread([this] { serve(); }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return has_thread_;
}

// The progress thread. It sleeps while nothing is outstanding, and wakes for what arrives. The kernel often lets it
// have the core of the thread that woke it: it gives that back for a moment, so that the start returns, which would
// take as long as a first step else: 0.4 ms for 8 MiB into the page cache.
void Progress::serve() try {
  name_this_thread("tw-progress");
  bind_as_wished();
  sleep_exactly();
  Pace pace;
  while (true) {
    if (has_waited_while_attended()) {
      sleep_for(kAfterYou);
      continue;
    }
    if (starters_.load(std::memory_order_relaxed) > 0) {
      yield_core();
      continue;
    }
    Stepped stepped{};
    {
      const std::lock_guard lock(mutex_);
      stepped = step_or_wait(pace);
    }
    if (stepped == Stepped::done_something) pace.something_happened();
    if (has_arrivals_after_sleep(stepped == Stepped::nothing_to_do ? &pace : nullptr)) {
      sleep_for(kAfterYou);
      pace.something_happened();
    }
  }
} catch (...) {
  end_on_exception();
}

// What wakes it is often the next start.
bool Progress::has_waited_while_attended() {
  if (attended_.load() == 0) return false;
  std::unique_lock lock(incoming_mutex_);
  arrived_.wait(lock, [this] { return attended_.load() == 0; });
  return true;
}

// Sleeps unless something arrived or happened. What arrived may have been begun by a thread that tests or waits, and
// may not come back.
bool Progress::has_arrivals_after_sleep(const Pace* idle) {
  std::unique_lock lock(incoming_mutex_);
  if (incoming_.empty() || starved_) {
    const bool busy = outstanding_.load(std::memory_order_relaxed) != 0;
    if (!busy && !starved_) {
      arrived_.wait(lock, [this] { return !incoming_.empty() || outstanding_.load(std::memory_order_relaxed) != 0; });
    } else if (idle != nullptr) {
      arrived_.wait_for(lock, idle->pause());
    }
  }
  return !incoming_.empty() && !starved_;
}

}  // namespace thalweg
