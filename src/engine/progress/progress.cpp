// How operations are advanced: they arrive in a list, begin in the order of it, and are stepped by whoever has the
// lock. And what a thread does that waits for one, where it does not get the lock or nothing can be done.
#include "engine/progress/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <utility>

#include "os/wait.hpp"

namespace thalweg {

namespace {

using std::chrono::microseconds;
constexpr microseconds kShort{200};
constexpr std::size_t kMostParked = 3;  // of one operation: itself, and two windows on their way
constexpr unsigned kYieldRounds = 64;
constexpr int kMostStepsOfStart = 64;
constexpr std::uint64_t kMostByWaiter = std::uint64_t{128} << 20;

thread_local bool inside_progress = false;  // this thread is advancing: its operations must not try to

// Operations under way that need the transport, wherever they are advanced.
std::atomic<std::size_t> n_need_transport{0};

// It outlives every thread that may still wait, and needs no memory that could be refused.
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

Progress& Progress::of_some() {
  static Progress* const progress = make_in<1>();
  return *progress;
}

Progress::Attending::Attending(const Request& request) : progress_(home_of(request)) {
  progress_.attended_.fetch_add(1, std::memory_order_relaxed);
}

Progress::Attending::~Attending() {
  if (progress_.attended_.fetch_sub(1) > 1 || progress_.outstanding_.load() == 0) return;
  const std::lock_guard lock(progress_.incoming_mutex_);
  progress_.arrived_.notify_one();
}

// Keeps those away who take mutex_ again and again.
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

bool Progress::in_kernel() {
  if (const int known = in_kernel_.load(std::memory_order_relaxed); known >= 0) return known != 0;
  const Starting lock(*this);
  try {
    if (!queues_.has_value()) queues_.emplace();
    in_kernel_.store(queues_->in_kernel() ? 1 : 0, std::memory_order_relaxed);
    return queues_->in_kernel();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// mutex_ is held. False: there is no memory for it now. The thread that waits for it, and for nothing else as far as is
// known, moves bytes by calls of its own as a blocking access does: the ring is slower through the page cache. Nobody
// else advances anything meanwhile, so that it must not be much.
bool Progress::begin(const std::shared_ptr<Request>& request, const Request* awaited) {
  try {
    if (!queues_.has_value()) queues_.emplace();
    driver_.reserve(kMostParked * (running_.size() + 1));
    const bool alone = request.get() == awaited && running_.empty() && request->bytes() <= kMostByWaiter;
    request->op_.emplace(
        request->operation(alone ? queues_->context_of_waiter() : queues_->context(request->by_thread_)));
  } catch (const std::bad_alloc&) {
    return false;
  }
  running_.put_last(request);
  request->op_->start();
  return true;
}

// mutex_ is held. In the order in which they came; what cannot begin now waits, and what is behind it.
bool Progress::begin_arrivals(const Request* awaited) {
  RequestList arrivals;
  {
    const std::lock_guard lock(incoming_mutex_);
    std::swap(arrivals, incoming_);
  }
  RequestList waiting;
  bool any = false;
  while (!arrivals.empty()) {
    std::shared_ptr<Request> request = arrivals.take_first();
    if (waiting.empty() && begin(request, arrivals.empty() ? awaited : nullptr)) {
      any = true;
    } else {
      waiting.put_last(std::move(request));
    }
  }
  const std::lock_guard lock(incoming_mutex_);
  starved_ = !waiting.empty();
  while (!incoming_.empty()) waiting.put_last(incoming_.take_first());
  std::swap(incoming_, waiting);
  return any;
}

// mutex_ is held. True when something happened. `awaited`: what the calling thread waits for.
bool Progress::step(const Request* awaited) {
  const bool outer = std::exchange(inside_progress, true);
  const Driver::Use use(driver_);
  if (queues_.has_value()) queues_->begin_step();
  bool any = begin_arrivals(awaited);
  any = driver_.step() || any;
  for (std::size_t n = running_.size(); n > 0; --n) {
    std::shared_ptr<Request> request = running_.take_first();
    if (!request->op_->done()) {
      running_.put_last(std::move(request));
      continue;
    }
    request->outcome_ = std::move(request->op_->value());
    request->op_.reset();
    request->let_go();
    if (request->counts_) n_need_transport.fetch_sub(1, std::memory_order_release);
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    request->done_.store(1, std::memory_order_release);
    futex_wake_all(request->done_);
    any = true;
  }
  inside_progress = outer;
  return any;
}

bool Progress::advance() {
  if (inside_progress) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && step();
}

bool Progress::advance_mine(const Progress* but) {
  bool any = false;
  if (but != &of_process()) any = of_process().advance();
  if (this_is_a_caller() && but != &of_some()) any = of_some().advance() || any;
  return any;
}

unsigned Progress::wait_a_little(const Request& request, unsigned idle_rounds) {
  Progress& home = home_of(request);
  if (&home == &of_some()) is_a_caller();
  if (advance_mine(&home)) idle_rounds = 0;
  return home.advance_or_wait(request, idle_rounds);
}

// A thread that waits in a collective does for all what it would do in wait_for(): the others may wait for that.
Driver::Meanwhile Progress::meanwhile() {
  const auto idle = [](const Progress& progress) { return progress.outstanding_.load(std::memory_order_relaxed) == 0; };
  if (inside_progress || (idle(of_process()) && (!this_is_a_caller() || idle(of_some()))))
    return Driver::Meanwhile::nothing_to_do;
  return advance_mine() ? Driver::Meanwhile::something_done : Driver::Meanwhile::nothing_done;
}

unsigned Progress::advance_or_wait(const Request& awaited, unsigned idle_rounds) {
  if (starters_.load(std::memory_order_relaxed) > 0) {
    yield_core();
    return idle_rounds;
  }
  if (std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    if (step(&awaited)) return 0;
    if (queues_.has_value() && queues_->in_flight() > 0) {
      queues_->wait(kShort);
      return idle_rounds;
    }
  }
  if (idle_rounds < kYieldRounds) {
    yield_core();
  } else {
    // Longer each time: a collective of ranks has many short waits.
    futex_wait(awaited.done_word(), 0, std::min(microseconds(1) * (idle_rounds - kYieldRounds + 1), kShort));
  }
  return idle_rounds + 1;
}

ProgressMode Progress::settle(ProgressMode asked) {
  if (asked == ProgressMode::kernel) asked = in_kernel() ? ProgressMode::kernel : ProgressMode::thread;
  return asked == ProgressMode::thread && !has_thread() ? ProgressMode::poll : asked;
}

void Progress::start(std::shared_ptr<Request> request, ProgressMode mode) {
  request->by_thread_ = mode == ProgressMode::thread;
  request->counts_ = request->needs_transport();
  if (request->counts_) n_need_transport.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(incoming_mutex_);
    outstanding_.fetch_add(1);  // seen by whoever looks at it under this lock, or no longer attends
    incoming_.put_last(std::move(request));
  }
  arrived_.notify_one();
  // Where there is no thread it begins here, and the transfers of this call are on their way when it returns. Others
  // that have something to do at every look are not waited for.
  if (mode != ProgressMode::thread) {
    const Starting lock(*this);
    for (int steps = 0; steps < kMostStepsOfStart && step(); ++steps) {
    }
  }
}

void Progress::start_among_some(std::shared_ptr<Request> request) {
  (void)of_process();  // which looks after threads that wait elsewhere
  is_a_caller();
  request->home_ = &of_some();
  of_some().start(std::move(request), ProgressMode::own);
}

void Progress::carry_out(Request& request) {
  try {
    request.outcome_ = run(request.operation(blocking_io()));
  } catch (const std::bad_alloc&) {
    request.outcome_.status = out_of_memory();
  }
  request.let_go();
  request.done_.store(1, std::memory_order_release);
}

// Nobody else advances anything meanwhile, so that no thread of ours is in the transport when it ends. What some task
// has not started yet is waited for.
void Progress::end_before(TransportEnd now) {
  is_a_caller();
  Progress& all = of_process();
  Progress& some = of_some();
  (void)all.in_kernel();  // who starts one may ask, and would wait for the lock with what is waited for here
  const Starting lock_all(all);
  const Starting lock_some(some);
  unsigned idle_rounds = 0;
  while (n_need_transport.load(std::memory_order_acquire) > 0) {
    const bool any = all.step();
    if (some.step() || any) {
      idle_rounds = 0;
    } else if (++idle_rounds < kYieldRounds) {
      yield_core();
    } else {
      sleep_for(kShort);
    }
  }
  now();
}

}  // namespace thalweg
