#include "engine/request.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/queues.hpp"
#include "group/callers.hpp"
#include "os/threads.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using std::chrono::microseconds;
constexpr microseconds kShort{200};
constexpr microseconds kLong{1000};
constexpr microseconds kLongInQueue{500};  // under the lock
constexpr microseconds kShortest{50};
constexpr int kPatience = 8;
constexpr microseconds kAfterYou{50};
constexpr std::size_t kMostParked = 3;  // of one operation: itself, and two windows on their way
constexpr unsigned kYieldRounds = 64;
constexpr std::uint64_t kMostByWaiter = std::uint64_t{128} << 20;

thread_local bool inside_progress = false;  // this thread is advancing: its operations must not try to

// Operations under way that need the transport, wherever they are advanced.
std::atomic<std::size_t> n_need_transport{0};

std::string_view setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// How long the progress thread sleeps between looks: an eighth of how long nothing has happened. What others are waited
// for in a round of some milliseconds, such as a message, is then not found a millisecond late.
class Pace {
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

// The progress thread, once: there is no call that could return it.
void bind_as_wished() {
  const std::string_view text = setting("THALWEG_PROGRESS_CORE");
  if (text.empty()) return;
  int core = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error == std::errc{} && end == text.data() + text.size() && bind_this_thread(core)) return;
  std::fprintf(stderr,
               "thalweg: THALWEG_PROGRESS_CORE='%s' is no number of a core that this process may use; the progress "
               "thread is not bound\n",
               std::getenv("THALWEG_PROGRESS_CORE"));
}

}  // namespace

// Linked through the requests themselves: to put one in takes no memory.
class RequestList {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  void put_last(std::shared_ptr<Request> request) {
    Request* const added = request.get();
    (last_ != nullptr ? last_->next_ : first_) = std::move(request);
    last_ = added;
    ++size_;
  }
  std::shared_ptr<Request> take_first() {
    std::shared_ptr<Request> first = std::move(first_);
    first_ = std::move(first->next_);
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return first;
  }

 private:
  std::shared_ptr<Request> first_;
  Request* last_ = nullptr;
  std::size_t size_ = 0;
};

class Progress {
 public:
  static Progress& of_process() {
    static auto* progress = [] {
      Driver::set_meanwhile(meanwhile);
      set_transport_end(end_before);
      return make_in<0>();
    }();
    return *progress;
  }
  // Of the operations that not every thread may advance.
  static Progress& of_some() {
    static Progress* const progress = make_in<1>();
    return *progress;
  }
  static Progress& home_of(const Request& request) { return request.home_ != nullptr ? *request.home_ : of_process(); }
  static void start_among_some(std::shared_ptr<Request> request);
  // All that this thread may; one may be left out.
  static bool advance_mine(const Progress* but = nullptr);
  static unsigned wait_a_little(const Request& request, unsigned idle_rounds);

  static void end_before(TransportEnd now);
  // What becomes of a wish: thread, poll, or kernel.
  ProgressMode settle(ProgressMode asked);
  void start(std::shared_ptr<Request> request, ProgressMode mode);
  // Whether something happened. No: or another thread is at it.
  bool advance();
  // Advances, or waits a little where nothing can be done. Gives back for how many rounds it was so.
  unsigned advance_or_wait(const Request& awaited, unsigned idle_rounds);
  // For a scope in which this thread calls that again and again: the progress thread would only be in its way.
  class Attending {
   public:
    explicit Attending(const Request& request) : progress_(home_of(request)) {
      progress_.attended_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Attending() {
      if (progress_.attended_.fetch_sub(1) > 1 || progress_.outstanding_.load() == 0) return;
      const std::lock_guard lock(progress_.incoming_mutex_);
      progress_.arrived_.notify_one();
    }
    Attending(const Attending&) = delete;
    Attending& operator=(const Attending&) = delete;

   private:
    Progress& progress_;
  };
  bool in_kernel();
  static bool is_left_to_thread(const Request& request) { return request.by_thread_; }

 private:
  // It outlives every thread that may still wait, and needs no memory that could be refused.
  template <int number>
  static Progress* make_in() {
    alignas(Progress) static std::byte place[sizeof(Progress)];
    return new (place) Progress;
  }
  class Starting;
  static Driver::Meanwhile meanwhile();
  bool begin(const std::shared_ptr<Request>& request, const Request* awaited);
  bool begin_arrivals(const Request* awaited);
  bool step(const Request* awaited = nullptr);
  enum class Stepped { done_something, nothing_to_do, slept };
  Stepped step_or_wait(const Pace& pace);
  void serve();
  bool has_waited_while_attended();
  bool has_arrivals_after_sleep(const Pace* idle);
  bool has_thread();

  std::atomic<std::size_t> outstanding_{0};  // only a hint: who sees an old number looks again
  // Threads that want mutex_ to start something. Who advances in a loop lets them have it; only a hint.
  std::atomic<int> starters_{0};
  std::atomic<int> attended_{0};    // threads that advance in a loop
  std::atomic<int> in_kernel_{-1};  // known once the queues are made

  std::mutex mutex_;  // guards all that follows
  Driver driver_;
  std::optional<SharedQueues> queues_;
  RequestList running_;

  std::mutex incoming_mutex_;  // taken after mutex_; guards the rest
  std::condition_variable arrived_;
  RequestList incoming_;
  bool starved_ = false;  // for want of memory they could not begin
  bool has_thread_ = false;
};

ProgressMode default_progress() {
  static const ProgressMode mode = [] {
    const std::string_view chosen = setting("THALWEG_PROGRESS");
    if (chosen == "poll") return ProgressMode::poll;
    if (chosen == "kernel") return ProgressMode::kernel;
    if (!chosen.empty() && chosen != "thread")
      std::fprintf(stderr, "thalweg: THALWEG_PROGRESS='%s' is none of thread, poll, kernel; it is taken for thread\n",
                   std::getenv("THALWEG_PROGRESS"));
    return ProgressMode::thread;
  }();
  return mode;
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

// mutex_ is held.
Progress::Stepped Progress::step_or_wait(const Pace& pace) {
  if (step()) return Stepped::done_something;
  if (!queues_.has_value() || queues_->in_flight() == 0) return Stepped::nothing_to_do;
  const std::size_t before = queues_->in_flight();
  queues_->wait(std::min(pace.pause(), kLongInQueue));
  return queues_->in_flight() < before ? Stepped::done_something : Stepped::slept;
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
void Progress::serve() {
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
  // Where there is no thread it begins here, and the transfers of this call are on their way when it returns.
  if (mode != ProgressMode::thread) {
    const Starting lock(*this);
    while (step()) {
    }
  }
}

void Progress::start_among_some(std::shared_ptr<Request> request) {
  (void)of_process();  // which looks after threads that wait elsewhere
  is_a_caller();
  request->home_ = &of_some();
  of_some().start(std::move(request), ProgressMode::own);
}

// Nobody else advances anything meanwhile, so that no thread of ours is in the transport when it ends. What some task
// has not started yet is waited for.
void Progress::end_before(TransportEnd now) {
  is_a_caller();
  Progress& all = of_process();
  Progress& some = of_some();
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

void start(std::shared_ptr<Request> request, ProgressMode mode) {
  if (mode == ProgressMode::own) return Progress::start_among_some(std::move(request));
  Progress& progress = Progress::of_process();
  progress.start(std::move(request), progress.settle(mode));
}

ProgressMode effective_progress(const Group* group, ProgressMode asked) {
  if (asked == ProgressMode::own || (group != nullptr && !group->any_thread())) return ProgressMode::own;
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
