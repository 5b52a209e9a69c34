// Progress: who advances the operations that go on by themselves. Only for request.cpp, progress.cpp and
// progress_thread.cpp; what all others may ask for is in engine/progress/request.hpp.
//
// The process has one Progress. Its operations live on one driver under one lock; whoever holds the lock advances them
// all, so that no order of waiting can make tasks wait for each other. Operations of groups that not every thread may
// advance (Group::any_thread) live on a second one, without a thread.
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
#include "engine/progress/request.hpp"
#include "engine/transfer/queues.hpp"

namespace thalweg {

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
  static Progress& of_process();
  // Of the operations that not every thread may advance.
  static Progress& of_some();
  static Progress& home_of(const Request& request) { return request.home_ != nullptr ? *request.home_ : of_process(); }
  static void start_among_some(std::shared_ptr<Request> request);
  // On this thread, to its end. Its group waits within calls of the user's: under the lock all others would wait, too.
  static void carry_out(Request& request);
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
    explicit Attending(const Request& request);
    ~Attending();
    Attending(const Attending&) = delete;
    Attending& operator=(const Attending&) = delete;

   private:
    Progress& progress_;
  };
  bool in_kernel();
  static bool is_left_to_thread(const Request& request) { return request.by_thread_; }

 private:
  class Starting;
  static Driver::Meanwhile meanwhile();
  bool begin(const std::shared_ptr<Request>& request, const Request* awaited);
  bool begin_arrivals(const Request* awaited);
  bool step(const Request* awaited = nullptr);

  // The progress thread.
  class Pace;
  enum class Stepped { done_something, nothing_to_do, slept };
  bool has_thread();
  void serve();
  Stepped step_or_wait(const Pace& pace);
  bool has_waited_while_attended();
  bool has_arrivals_after_sleep(const Pace* idle);

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

}  // namespace thalweg
