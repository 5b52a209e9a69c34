// Progress: advances nonblocking operations, and implements async/request.hpp. Requests arrive in a list, begin in its
// order, and are stepped by the holder of the lock. Below: operations, the progress thread, the interface of requests.
//
// The process has one Progress. Its operations are on one driver under one lock, and the holder of the lock advances
// them all, so that no order of waiting leads to a deadlock between tasks. Operations that not every thread may
// advance (Advancers::transport) are on a second Progress, without a thread.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "async/callers.hpp"
#include "async/last_words.hpp"
#include "async/op.hpp"
#include "async/request.hpp"
#include "os/backoff.hpp"
#include "os/threads.hpp"
#include "os/wait.hpp"
#include "storage/queues.hpp"

namespace thalweg {

class Progress {
 public:
  static Progress& of_process();
  // The Progress of operations that only callers of the transport advance.
  static Progress& of_callers();
  static Progress& home_of(const Request& request) { return request.home_ != nullptr ? *request.home_ : of_process(); }
  static bool is_left_to_thread(const Request& request) {
    return request.by_thread_ && !of_process().thread_rests_.load();
  }

  void start(std::shared_ptr<Request> request, ProgressMode mode) noexcept;
  static void start_among_callers(std::shared_ptr<Request> request);
  // Runs the request to its end on this thread: its group waits within the user's functions, where the lock would
  // block other threads.
  static void carry_out(Request& request);
  // The mode in force for `asked`: poll where no thread can be started.
  ProgressMode settle(ProgressMode asked);

  // Advances every Progress that this thread may advance, except `but`. True when anything advanced.
  static bool advance_mine(const Progress* but = nullptr);
  // Advances, or waits for a short time when nothing can be done.
  static void wait_a_little(const Request& request, Backoff& backoff);
  // Marks a scope in which this thread calls wait_a_little() in a loop: the progress thread sleeps meanwhile.
  class Waiter {
   public:
    explicit Waiter(const Request& request);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    Progress& progress_;
  };

  static void end_before(TransportEnd now);

 private:
  static Driver::Meanwhile meanwhile();
  static void finish(Request& request);
  // Takes mutex_; threads that take it in a loop make way.
  std::unique_lock<std::mutex> lock_to_start();
  void begin(std::shared_ptr<Request> request, const Request* awaited);
  bool begin_arrivals(const Request* awaited);
  bool step(const Request* awaited = nullptr) noexcept;
  bool advance();
  void advance_or_wait(const Request& awaited, Backoff& backoff);

  // Starts the progress thread if there is none; false when it cannot be started.
  bool has_thread();
  void serve();
  std::chrono::microseconds step_or_wait(Backoff& backoff);
  bool sleep(std::chrono::microseconds pause);

  std::atomic<std::size_t> outstanding_{0};  // only a hint: a thread that reads an old number checks again
  // Threads that need mutex_ to start a request. A thread that advances in a loop releases it for them; only a hint.
  std::atomic<int> starters_{0};
  std::atomic<int> waiters_{0};

  std::mutex mutex_;  // guards all that follows
  Driver driver_;
  std::optional<SharedQueues> queues_;
  std::vector<std::shared_ptr<Request>> arrivals_, running_;
  std::atomic<bool> thread_rests_{false};  // since transport_ends_soon(); changes with mutex_ held

  std::mutex incoming_mutex_;  // taken after mutex_; guards the rest
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<Request>> incoming_;
  bool has_thread_ = false;
};

namespace {

using std::chrono::microseconds;
constexpr microseconds kShort{200};
constexpr Backoff::Limits kWaits{.longest = microseconds(200)};
constexpr int kMostStepsOfStart = 64;
constexpr std::uint64_t kMostByWaiter = std::uint64_t{128} << 20;

// This thread is within step(): operations that it resumes must not enter step() again
thread_local bool inside_progress = false;

// Operations in progress that need the transport, wherever they are advanced.
std::atomic<std::size_t> n_need_transport{0};

// Never destroyed: threads may still wait in it.
template <int Number>
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

std::unique_lock<std::mutex> Progress::lock_to_start() {
  starters_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  starters_.fetch_sub(1, std::memory_order_relaxed);
  return lock;
}

// mutex_ is held. A thread that waits only for one request moves its bytes by its own calls, as a blocking access
// does: the ring is slower through the page cache. No other operation advances meanwhile, so the amount is limited.
void Progress::begin(std::shared_ptr<Request> request, const Request* awaited) {
  if (!queues_.has_value()) queues_.emplace();
  const bool alone = request.get() == awaited && running_.empty() && request->bytes() <= kMostByWaiter;
  const IoContext io = alone ? queues_->context_of_waiter() : queues_->context(request->by_thread_);
  Request& started = *request;
  running_.push_back(std::move(request));
  started.begin(io);
}

// mutex_ is held. Begins requests in the order of their arrival.
bool Progress::begin_arrivals(const Request* awaited) {
  {
    const std::lock_guard lock(incoming_mutex_);
    std::swap(arrivals_, incoming_);
  }
  for (auto& request : arrivals_) begin(std::move(request), &request == &arrivals_.back() ? awaited : nullptr);
  const bool any = !arrivals_.empty();
  arrivals_.clear();  // keeps its memory for the next ones
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
  const auto finish_ended = [&](const std::shared_ptr<Request>& request) {
    if (!request->has_ended()) return false;
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    finish(*request);
    return true;
  };
  any = std::erase_if(running_, finish_ended) > 0 || any;
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
  return asked == ProgressMode::thread && (thread_rests_.load() || !has_thread()) ? ProgressMode::poll : asked;
}

void Progress::start(std::shared_ptr<Request> request, ProgressMode mode) noexcept try {
  mode = settle(mode);
  request->by_thread_ = mode == ProgressMode::thread;
  request->counts_ = request->needs_transport();
  if (request->counts_) n_need_transport.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(incoming_mutex_);
    outstanding_.fetch_add(1);  // a thread that checks it under this lock sees it, or is woken below
    incoming_.push_back(std::move(request));
  }
  arrived_.notify_one();
  // Without a progress thread the request begins here, so that its transfers are submitted when this call returns.
  // Operations that advance at every step do not delay it.
  if (mode != ProgressMode::thread) {
    const auto lock = lock_to_start();
    for (int steps = 0; steps < kMostStepsOfStart && step(); ++steps) {
    }
  }
} catch (...) {
  end_on_exception();
}

void Progress::start_among_callers(std::shared_ptr<Request> request) {
  (void)of_process();  // installs what advances operations while a thread waits elsewhere
  is_a_caller();
  request->home_ = &of_callers();
  of_callers().start(std::move(request), ProgressMode::poll);
}

void Progress::carry_out(Request& request) {
  Driver::current().block([&] { request.begin(blocking_io()); }, [&] { return request.has_ended(); });
  finish(request);
}

// No other operation advances meanwhile, so no thread of the library is in the transport when it ends. An operation
// that some task has not started yet is waited for. Without `now` the thread only stops until the next call of this.
void Progress::end_before(TransportEnd now) {
  is_a_caller();
  Progress& all = of_process();
  Progress& callers = of_callers();
  const auto lock_all = all.lock_to_start();
  const auto lock_callers = callers.lock_to_start();
  all.thread_rests_.store(now == nullptr);
  if (now == nullptr) return;
  {
    const std::lock_guard lock(all.incoming_mutex_);
    all.arrived_.notify_one();
  }
  Backoff backoff(kWaits);
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

namespace {

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
    if (!thread_rests_.load()) pause = step_or_wait(backoff);
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
  const auto is_needed = [this] { return waiters_.load() == 0 && outstanding_.load() != 0 && !thread_rests_.load(); };
  const bool sleeps = !is_needed();
  arrived_.wait(lock, is_needed);
  if (!sleeps && pause.count() > 0) arrived_.wait_for(lock, pause, [this] { return !incoming_.empty(); });
  return sleeps || !incoming_.empty();
}

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
  Backoff backoff(kWaits);
  while (!request.done()) Progress::wait_a_little(request, backoff);
}

void wait_for_any(std::span<const std::shared_ptr<Request>> requests) {
  Backoff backoff(kWaits);
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
