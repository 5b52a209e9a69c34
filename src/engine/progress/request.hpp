// Request: an operation that was started and goes on by itself. Its mode says who advances it:
//   thread   the one progress thread of the process, started with the first operation that asks for it, asleep while
//            there is none
//   poll     whoever calls test() or wait(), or waits in any other call of the library
//   kernel   poll where io_uring carries transfers, so that they go on without anybody advancing them; else thread
//
// Operations of groups that not every thread may advance (Group::any_thread) have a mode to themselves:
//   own      threads that make calls on such groups (async/callers.hpp), in whichever call of the library they wait
//
// And so have those of groups whose collectives are functions that wait (group/relaying.hpp):
//   at_call  the thread that starts it, to its end, as if it were a blocking call
//
// Before the transport between processes ends, the operations that need it are completed. How all of them are advanced
// is in engine/progress/progress.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "async/op.hpp"
#include "engine/collective.hpp"

namespace thalweg {

enum class ProgressMode : std::uint8_t { thread, poll, kernel, own, at_call };

// THALWEG_PROGRESS=thread|poll|kernel, read once; without it, thread. Told on stderr when it is none of these.
ProgressMode default_progress();
// How an operation of this group is to be started, when the caller asks for a mode.
ProgressMode mode_for(const Group& group, ProgressMode asked);
// What advances an operation of `group` (null: of a task alone) that is to be started so. Makes the thread that it
// needs.
ProgressMode effective_progress(const Group* group, ProgressMode asked);

class Progress;

class Request {
 public:
  virtual ~Request() = default;

  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  const Outcome& outcome() const { return outcome_; }  // only when done()
  const std::atomic<std::uint32_t>& done_word() const { return done_; }

  // The operation, not started yet.
  virtual Op<Outcome> operation(IoContext io) = 0;
  // It is done: lets go of all that it needed.
  virtual void let_go() = 0;
  // What it may have to move.
  virtual std::uint64_t bytes() const = 0;
  // Whether it talks to other processes through what ends with the program's MPI_Finalize.
  virtual bool needs_transport() const { return false; }

 private:
  friend class Progress;
  friend class RequestList;
  Progress* home_ = nullptr;            // null: that of the process. Set before it starts
  bool by_thread_ = false;              // the progress thread advances it. The same
  bool counts_ = false;                 // among those that need the transport. Set before it starts
  std::optional<Op<Outcome>> op_;       // guarded by the lock of Progress
  std::shared_ptr<Request> next_;       // of its list
  Outcome outcome_;                     // written before done_
  std::atomic<std::uint32_t> done_{0};  // a futex; release: who sees it sees outcome_
};

// Starts the operation. Cannot fail: other tasks may be waiting for it. Where no thread can be had it is polled, and
// where there is no memory to begin it, it begins when there is some.
void start(std::shared_ptr<Request> request, ProgressMode mode);
// Advances what is outstanding and may be advanced by this thread, if nobody else does.
void advance_requests();
// The same, by a thread that is about to wait for `request`.
void advance(const Request& request);
void wait_for(const Request& request);
// Waits until one of them is done; null ones are not. At least one is not null.
void wait_for_any(std::span<const std::shared_ptr<Request>> requests);

// co_await: it is the turn of this access to show the shared position. Earlier ones may be outstanding requests, which
// are advanced.
struct TheirTurn {
  const Group& group;
  SharedPosition& position;
  SharedPosition::Ticket ticket;
  static bool ready(void* self);
  WaitPoint point() { return {ready, nullptr, this}; }
};

}  // namespace thalweg
