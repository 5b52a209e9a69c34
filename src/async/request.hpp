// Request: a nonblocking operation that was started. Its progress mode names what advances it:
// thread   the progress thread of the process, started with the first such request; it sleeps while none is
// outstanding
// poll     calls of the library: test, wait, and any other call that waits
// In both modes submitted transfers continue by themselves: the queue is the kernel's or a thread's.
//
// In both modes a group may limit the threads that advance its collectives (Advancers).
//
// Before the transport between processes ends, the operations that need it are completed. The implementation is in
// async/progress.cpp.
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

// Threads that may advance an operation: a property of its group.
enum class Advancers : std::uint8_t {
  any,        // every thread of the process
  transport,  // threads that call the transport between processes anyway (async/callers.hpp)
  starter,    // the thread that starts it, within that call: the collectives are functions that block
};

// The mode in force for a request started with `asked`. Starts the progress thread where it is needed.
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
  // Whether it communicates with other processes by the transport, which ends with the program's MPI_Finalize.
  virtual bool needs_transport() const { return false; }

 private:
  friend class Progress;
  virtual void begin(IoContext io) = 0;
  virtual bool has_ended() const = 0;
  virtual void take_outcome() = 0;

  Progress* home_ = nullptr;            // null: the Progress of the process. Set before it starts
  bool by_thread_ = false;              // the progress thread advances it. Set before it starts
  bool counts_ = false;                 // counted among the operations that need the transport. Set before it starts
  std::atomic<std::uint32_t> done_{0};  // a futex; release: a thread that sees it sees the outcome
};

// A request whose result is a T.
template <class T>
class RequestFor : public Request {
 public:
  const T& outcome() const { return outcome_; }  // only when done()

  // Makes the operation, not started yet.
  virtual Op<T> operation(IoContext io) = 0;
  // Called at the end: releases all resources.
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

// Starts the operation. Cannot fail: other tasks may wait for it. Polled where no thread can be started.
void start(std::shared_ptr<Request> request, ProgressMode mode);
// Advances the outstanding requests that this thread may advance, unless another thread does.
void advance_requests();
// advance_requests() for a thread that is about to wait for `request`.
void advance(const Request& request);
// Whether one advance() serves both requests.
bool are_advanced_alike(const Request& a, const Request& b);
void wait_for(const Request& request);
// Waits until one of them is done; null entries are skipped. At least one is not null.
void wait_for_any(std::span<const std::shared_ptr<Request>> requests);

}  // namespace thalweg
