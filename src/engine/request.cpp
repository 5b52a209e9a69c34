#include "engine/request.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/queues.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using std::chrono::microseconds;
constexpr microseconds kShort{200};
constexpr microseconds kLong{1000};

thread_local bool inside_progress = false;  // this thread is advancing: its operations must not try to

}  // namespace

class Progress {
 public:
  static Progress& of_process() {
    static auto* progress = new Progress;  // outlives every thread that may still wait
    return *progress;
  }

  Status start(const std::shared_ptr<Request>& request, ProgressMode mode);
  // False: another thread is at it.
  bool advance();
  // Advances, or waits a little where nothing can be done.
  void advance_or_wait(const std::atomic<std::uint32_t>& done);
  bool in_kernel();

 private:
  void begin(const std::shared_ptr<Request>& request);
  bool step();
  bool step_or_wait();
  void serve();
  Status need_thread();

  std::mutex mutex_;  // guards all that follows
  Driver driver_;
  std::optional<SharedQueues> queues_;
  std::vector<std::shared_ptr<Request>> running_;

  std::mutex incoming_mutex_;  // taken after mutex_; guards the rest
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<Request>> incoming_;
  bool has_thread_ = false;
};

ProgressMode default_progress() {
  static const ProgressMode mode = [] {
    const char* text = std::getenv("THALWEG_PROGRESS");
    const std::string_view chosen = text != nullptr ? text : "";
    if (chosen == "poll") return ProgressMode::poll;
    return chosen == "kernel" ? ProgressMode::kernel : ProgressMode::thread;
  }();
  return mode;
}

bool Progress::in_kernel() {
  const std::lock_guard lock(mutex_);
  if (!queues_.has_value()) queues_.emplace();
  return queues_->in_kernel();
}

// mutex_ is held.
void Progress::begin(const std::shared_ptr<Request>& request) {
  if (!queues_.has_value()) queues_.emplace();
  running_.push_back(request);
  request->op_.emplace(request->start_(queues_->context()));
  request->op_->start();
}

// mutex_ is held. True when something happened.
bool Progress::step() {
  const bool outer = std::exchange(inside_progress, true);
  const Driver::Use use(driver_);
  std::vector<std::shared_ptr<Request>> arrivals;
  {
    const std::lock_guard lock(incoming_mutex_);
    arrivals.swap(incoming_);
  }
  bool any = !arrivals.empty();
  for (const auto& request : arrivals) begin(request);
  any = driver_.step() || any;
  for (std::size_t i = 0; i < running_.size();) {
    if (!running_[i]->op_->done()) {
      ++i;
      continue;
    }
    const std::shared_ptr<Request> request = std::exchange(running_[i], running_.back());
    running_.pop_back();
    request->outcome_ = std::move(request->op_->value());
    request->op_.reset();
    request->start_ = nullptr;
    request->done_.store(1, std::memory_order_release);
    futex_wake_all(request->done_);
    any = true;
  }
  inside_progress = outer;
  return any;
}

// mutex_ is held.
bool Progress::step_or_wait() {
  if (step()) return true;
  if (queues_.has_value() && queues_->in_flight() > 0) queues_->wait(kShort);
  return false;
}

bool Progress::advance() {
  if (inside_progress) return true;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  step();
  return true;
}

void Progress::advance_or_wait(const std::atomic<std::uint32_t>& done) {
  bool waited = true;
  if (std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    waited = !step_or_wait() && queues_.has_value() && queues_->in_flight() > 0;
    if (done.load(std::memory_order_acquire) != 0) return;
    if (waited) return;
  }
  futex_wait(done, 0, kShort);
}

Status Progress::need_thread() {
  const std::lock_guard lock(incoming_mutex_);
  if (has_thread_) return {};
  try {
    std::thread([this] { serve(); }).detach();
    has_thread_ = true;
    return {};
  } catch (const std::system_error& failure) {
    return Status::error(Code::no_memory, std::string("cannot start the progress thread: ") + failure.what(),
                         failure.code().value());
  }
}

// The progress thread. It sleeps while nothing is outstanding, and wakes for what arrives.
void Progress::serve() {
  unsigned idle_rounds = 0;
  while (true) {
    bool busy = false;
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      any = step_or_wait();
      busy = !running_.empty();
    }
    idle_rounds = any ? 0 : idle_rounds + 1;
    std::unique_lock lock(incoming_mutex_);
    if (!incoming_.empty()) continue;
    if (!busy) {
      arrived_.wait(lock, [this] { return !incoming_.empty(); });
    } else if (!any) {
      arrived_.wait_for(lock, idle_rounds < 50 ? kShort / 4 : kLong);
    }
  }
}

Status Progress::start(const std::shared_ptr<Request>& request, ProgressMode mode) {
  if (mode == ProgressMode::kernel) mode = in_kernel() ? ProgressMode::poll : ProgressMode::thread;
  if (mode == ProgressMode::thread) TW_RETURN_IF_ERROR(need_thread());
  {
    const std::lock_guard lock(incoming_mutex_);
    incoming_.push_back(request);
  }
  arrived_.notify_one();
  // Where there is no thread it begins here, and the transfers of this call are on their way when it returns.
  if (mode == ProgressMode::poll) {
    const std::lock_guard lock(mutex_);
    while (step()) {
    }
  }
  return {};
}

Status start(const std::shared_ptr<Request>& request, ProgressMode mode) {
  return Progress::of_process().start(request, mode);
}

void advance_requests() { (void)Progress::of_process().advance(); }

void wait_for(const Request& request) {
  while (!request.done()) Progress::of_process().advance_or_wait(request.done_word());
}

void wait_for_any(std::span<const std::shared_ptr<Request>> requests) {
  while (true) {
    const Request* first = nullptr;
    for (const auto& request : requests) {
      if (request == nullptr) continue;
      if (request->done()) return;
      if (first == nullptr) first = request.get();
    }
    if (first == nullptr) return;
    Progress::of_process().advance_or_wait(first->done_word());
  }
}

bool TheirTurn::ready(void* self) {
  const auto* turn = static_cast<const TheirTurn*>(self);
  if (turn->position.is_turn(turn->ticket)) return true;
  advance_requests();
  return turn->position.is_turn(turn->ticket);
}

}  // namespace thalweg
