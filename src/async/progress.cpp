// Advances operations: requests arrive in a list, begin in its order, and are stepped by the holder of the lock. Also
// waits for requests: without the lock, or when nothing can advance.
#include "async/progress.hpp"

#include <chrono>
#include <cstdint>
#include <new>
#include <utility>

#include "async/last_words.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::chrono::microseconds kShort{200};
constexpr int kMostStepsOfStart = 64;
constexpr std::uint64_t kMostByWaiter = std::uint64_t{128} << 20;

// This thread is within step(): operations that it resumes must not enter step() again
thread_local bool inside_progress = false;

// Operations in progress that need the transport, wherever they are advanced.
std::atomic<std::size_t> n_need_transport{0};

// Never destroyed: threads may still wait in it.
template <int number>
Progress* make_in() {
  alignas(Progress) static std::byte place[sizeof(Progress)];
  return new (place) Progress;
}

}  // namespace

Progress& Progress::of_process() {
  static auto* progress = [] {
    Driver::set_meanwhile(meanwhile);
    set_transport_end(end_before);
    return make_in<0>();
  }();
  return *progress;
}

Progress& Progress::of_callers() {
  static Progress* const progress = make_in<1>();
  return *progress;
}

Progress::Waiter::Waiter(const Request& request) : progress_(home_of(request)) {
  progress_.waiters_.fetch_add(1, std::memory_order_relaxed);
}

Progress::Waiter::~Waiter() {
  if (progress_.waiters_.fetch_sub(1) > 1 || progress_.outstanding_.load() == 0) return;
  const std::lock_guard lock(progress_.incoming_mutex_);
  progress_.arrived_.notify_one();
}

// Defers threads that take mutex_ in a loop.
class Progress::Starting {
 public:
  explicit Starting(Progress& progress) : progress_(progress) {
    progress_.starters_.fetch_add(1, std::memory_order_relaxed);
    progress_.mutex_.lock();
    progress_.starters_.fetch_sub(1, std::memory_order_relaxed);
  }
  ~Starting() { progress_.mutex_.unlock(); }
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

 private:
  Progress& progress_;
};

// mutex_ is held. A thread that waits only for one request moves its bytes by its own calls, as a blocking access
// does: the ring is slower through the page cache. No other operation advances meanwhile, so the amount is limited.
void Progress::begin(std::shared_ptr<Request> request, const Request* awaited) {
  if (!queues_.has_value()) queues_.emplace();
  const bool alone = request.get() == awaited && running_.empty() && request->bytes() <= kMostByWaiter;
  const IoContext io = alone ? queues_->context_of_waiter() : queues_->context(request->by_thread_);
  Request& started = *request;
  running_.put_last(std::move(request));
  started.begin(io);
}

// mutex_ is held. Begins requests in the order of their arrival.
bool Progress::begin_arrivals(const Request* awaited) {
  RequestList arrivals;
  {
    const std::lock_guard lock(incoming_mutex_);
    std::swap(arrivals, incoming_);
  }
  const bool any = !arrivals.empty();
  while (!arrivals.empty()) {
    std::shared_ptr<Request> request = arrivals.take_first();
    begin(std::move(request), arrivals.empty() ? awaited : nullptr);
  }
  return any;
}

void Progress::finish(Request& request) {
  request.take_outcome();
  if (request.counts_) n_need_transport.fetch_sub(1, std::memory_order_release);
  request.done_.store(1, std::memory_order_release);
  futex_wake_all(request.done_);
}

// mutex_ is held. True when anything advanced. `awaited`: the request that the calling thread waits for.
bool Progress::step(const Request* awaited) noexcept try {
  const bool outer = std::exchange(inside_progress, true);
  const Driver::Use use(driver_);
  if (queues_.has_value()) queues_->begin_step();
  bool any = begin_arrivals(awaited);
  any = driver_.step() || any;
  for (std::size_t n = running_.size(); n > 0; --n) {
    std::shared_ptr<Request> request = running_.take_first();
    if (!request->has_ended()) {
      running_.put_last(std::move(request));
      continue;
    }
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    finish(*request);
    any = true;
  }
  inside_progress = outer;
  return any;
} catch (...) {
  end_on_exception();
}

bool Progress::advance() {
  if (inside_progress) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && step();
}

bool Progress::advance_mine(const Progress* but) {
  bool any = false;
  if (but != &of_process()) any = of_process().advance();
  if (this_is_a_caller() && but != &of_callers()) any = of_callers().advance() || any;
  return any;
}

void Progress::wait_a_little(const Request& request, Backoff& backoff) {
  Progress& home = home_of(request);
  if (&home == &of_callers()) is_a_caller();
  if (advance_mine(&home)) backoff.reset();
  home.advance_or_wait(request, backoff);
}

// A thread that waits in a collective advances all operations, as wait_for() does: the other tasks may depend on
// them.
Driver::Meanwhile Progress::meanwhile() {
  const auto idle = [](const Progress& progress) { return progress.outstanding_.load(std::memory_order_relaxed) == 0; };
  if (inside_progress || (idle(of_process()) && (!this_is_a_caller() || idle(of_callers()))))
    return Driver::Meanwhile::nothing_to_do;
  return advance_mine() ? Driver::Meanwhile::something_done : Driver::Meanwhile::nothing_done;
}

void Progress::advance_or_wait(const Request& awaited, Backoff& backoff) {
  if (starters_.load(std::memory_order_relaxed) > 0) return yield_core();
  if (std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    if (step(&awaited)) return backoff.reset();
    if (queues_.has_value() && queues_->in_flight() > 0) return queues_->wait(kShort);
  }
  if (const auto pause = backoff.next(); pause.count() > 0) futex_wait(awaited.done_word(), 0, pause);
}

ProgressMode Progress::settle(ProgressMode asked) {
  return asked == ProgressMode::thread && !has_thread() ? ProgressMode::poll : asked;
}

void Progress::start(std::shared_ptr<Request> request, ProgressMode mode) {
  mode = settle(mode);
  request->by_thread_ = mode == ProgressMode::thread;
  request->counts_ = request->needs_transport();
  if (request->counts_) n_need_transport.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(incoming_mutex_);
    outstanding_.fetch_add(1);  // a thread that checks it under this lock sees it, or is woken below
    incoming_.put_last(std::move(request));
  }
  arrived_.notify_one();
  // Without a progress thread the request begins here, so that its transfers are submitted when this call returns.
  // Operations that advance at every step do not delay it.
  if (mode != ProgressMode::thread) {
    const Starting lock(*this);
    for (int steps = 0; steps < kMostStepsOfStart && step(); ++steps) {
    }
  }
}

void Progress::start_among_callers(std::shared_ptr<Request> request) {
  (void)of_process();  // installs what advances operations while a thread waits elsewhere
  is_a_caller();
  request->home_ = &of_callers();
  of_callers().start(std::move(request), ProgressMode::poll);
}

void Progress::carry_out(Request& request) {
  Driver& driver = Driver::current();
  const Driver::Blocking blocking(driver);
  request.begin(blocking_io());
  while (!request.has_ended()) driver.step_or_wait();
  finish(request);
}

// No other operation advances meanwhile, so no thread of the library is in the transport when it ends. An operation
// that some task has not started yet is waited for.
void Progress::end_before(TransportEnd now) {
  is_a_caller();
  Progress& all = of_process();
  Progress& callers = of_callers();
  const Starting lock_all(all);
  const Starting lock_callers(callers);
  Backoff backoff = Progress::backoff();
  while (n_need_transport.load(std::memory_order_acquire) > 0) {
    const bool any = all.step();
    if (callers.step() || any) {
      backoff.reset();
    } else {
      backoff.wait();
    }
  }
  now();
}

}  // namespace thalweg
