// Request: an operation that was started and goes on by itself. Its progress mode says who advances it:
//   thread   the progress thread of the process, which is started with the first such request and sleeps while none is
//            outstanding
//   poll     calls of the library: test, wait, and any other call that waits
// In both modes transfers go on by themselves once they are submitted: the queue is the kernel's or a thread's.
//
// A group whose collectives not every thread may advance (Advancers) limits that further, in both modes.
//
// Before the transport between processes ends, the operations that need it are completed. How requests are advanced is
// in async/progress.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "async/op.hpp"
#include "storage/io_context.hpp"

namespace thalweg {

enum class ProgressMode : std::uint8_t { thread, poll };

// THALWEG_PROGRESS=thread|poll, read once; without it, thread. Any other value is reported on stderr.
ProgressMode default_progress();

// Which threads may advance an operation: a property of the group in which its collectives are.
enum class Advancers : std::uint8_t {
  any,        // every thread of the process
  transport,  // threads that make calls of the transport between processes anyway (async/callers.hpp)
  starter,    // the thread that starts it, within that call: the collectives are functions that wait
};

// What advances an operation that is started with `asked`. Starts the progress thread where it is needed.
ProgressMode effective_progress(Advancers who, ProgressMode asked);

class Progress;

class Request {
 public:
  virtual ~Request() = default;

  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  const std::atomic<std::uint32_t>& done_word() const { return done_; }

  // An upper bound of the bytes to move.
  virtual std::uint64_t bytes() const { return 0; }
  virtual Advancers advancers() const { return Advancers::any; }
  // Whether it talks to other processes through what ends with the program's MPI_Finalize.
  virtual bool needs_transport() const { return false; }

 private:
  friend class Progress;
  friend class RequestList;
  virtual void begin(IoContext io) = 0;
  virtual bool has_ended() const = 0;
  virtual void take_outcome() = 0;

  Progress* home_ = nullptr;            // null: that of the process. Set before it starts
  bool by_thread_ = false;              // the progress thread advances it. Set before it starts
  bool counts_ = false;                 // among those that need the transport. Set before it starts
  std::shared_ptr<Request> next_;       // of its list
  std::atomic<std::uint32_t> done_{0};  // a futex; release: who sees it sees the outcome
};

// A request whose operation ends with a T.
template <class T>
class RequestFor : public Request {
 public:
  const T& outcome() const { return outcome_; }  // only when done()

  // The operation, not started yet.
  virtual Op<T> operation(IoContext io) = 0;
  // It has ended: releases all that it needed.
  virtual void let_go() {}

 private:
  void begin(IoContext io) final {
    op_.emplace(operation(io));
    op_->start();
  }
  bool has_ended() const final { return op_->done(); }
  void take_outcome() final {
    outcome_ = std::move(op_->value());
    op_.reset();
    let_go();
  }

  std::optional<Op<T>> op_;  // guarded by the lock of Progress
  T outcome_;
};

// Starts the operation. Cannot fail: other tasks may be waiting for it. Where no thread can be had it is polled.
void start(std::shared_ptr<Request> request, ProgressMode mode);
// Advances what is outstanding and may be advanced by this thread, if nobody else does.
void advance_requests();
// As advance_requests(), by a thread that is about to wait for `request`.
void advance(const Request& request);
// Whether one advance() does for both.
bool are_advanced_alike(const Request& a, const Request& b);
void wait_for(const Request& request);
// Waits until one of them is done; null ones are not. At least one is not null.
void wait_for_any(std::span<const std::shared_ptr<Request>> requests);

}  // namespace thalweg
