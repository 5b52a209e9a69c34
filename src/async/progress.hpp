// Progress: advances nonblocking operations. Private to request.cpp, progress.cpp and progress_thread.cpp;
// async/request.hpp has the interface for all others.
//
// The process has one Progress. Its operations are on one driver under one lock, and the holder of the lock advances
// them all, so that no order of waiting leads to a deadlock between tasks. Operations that not every thread may
// advance (Advancers::transport) are on a second Progress, without a thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "async/callers.hpp"
#include "async/op.hpp"
#include "async/request.hpp"
#include "os/backoff.hpp"
#include "storage/queues.hpp"

namespace thalweg {

// Linked through the requests themselves, so that appending takes no memory.
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
  static Progress& of_process();
  // The Progress of operations that only callers of the transport advance.
  static Progress& of_callers();
  static Progress& home_of(const Request& request) { return request.home_ != nullptr ? *request.home_ : of_process(); }
  static bool is_left_to_thread(const Request& request) { return request.by_thread_; }

  void start(std::shared_ptr<Request> request, ProgressMode mode);
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
  static Backoff backoff() { return Backoff({.longest = std::chrono::microseconds(200)}); }
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
  class Starting;
  static Driver::Meanwhile meanwhile();
  static void finish(Request& request);
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
  RequestList running_;

  std::mutex incoming_mutex_;  // taken after mutex_; guards the rest
  std::condition_variable arrived_;
  RequestList incoming_;
  bool has_thread_ = false;
};

}  // namespace thalweg
