// OpenHandle: what the handles of open multifiles, shared files and vpfiles have in common. All of the process are
// known, so that one that was closed already is told from one that is open, and so that what is still open when MPI or
// the program ends is flushed. It is not closed then: nobody has said that it is whole.
//
// A handle that writes belongs to the process that opened it. In the child of a fork its calls fail.
//
// Threads: any. The end of the program leaves a handle alone that a thread is inside of.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "group/group.hpp"
#include "os/process_era.hpp"

namespace thalweg {

class OpenHandle {
 public:
  enum class Threads { one, several };  // that make calls on a handle at once
  explicit OpenHandle(Threads threads);
  virtual ~OpenHandle();
  OpenHandle(const OpenHandle&) = delete;
  OpenHandle& operator=(const OpenHandle&) = delete;

  // From here on it takes calls: where it `writes`, of this process alone.
  void opened(bool writes) noexcept {
    opened_in_ = process_era();
    era_.store(writes ? process_era() : kAnyProcess, std::memory_order_release);
  }

  // Independent: stores what this task has in memory, where it writes.
  virtual Status store_own() = 0;
  // The object that all tasks of this process share which have the file open; null: it is not open for writing.
  virtual const void* written() const = 0;
  virtual std::int64_t tasks() const = 0;
  // After that, in place of the close. `by_all`: all tasks are in this process, and have stored what they had.
  virtual void end_unclosed(bool by_all) = 0;
  virtual std::string path() const = 0;
  virtual bool is_first() const = 0;  // task 0, which names the file
  // For a group that ends with MPI: begins to store what this task has, together with the others where all are needed,
  // and leaves the group, so that nobody waits for this task.
  virtual bool needs_transport() const = 0;
  virtual Status begin_to_leave() = 0;

 private:
  friend class InCall;
  friend class OpenHandles;
  static constexpr ProcessEra kAnyProcess = ~ProcessEra{0};  // no era
  static constexpr ProcessEra kOver = kAnyProcess - 1;       // not open yet; MPI has ended, or the program

  // Inside of a call. Who forbids calls, and waits until all threads have seen that, sees the threads that are inside.
  void enter() noexcept {
    if (threads_ == Threads::several)
      calls_.fetch_add(1, std::memory_order_relaxed);
    else
      calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void leave() noexcept {
    if (threads_ == Threads::several)
      calls_.fetch_sub(1, std::memory_order_release);
    else
      calls_.store(calls_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  bool takes_calls() const noexcept {
    const ProcessEra era = era_.load(std::memory_order_acquire);
    return era == process_era() || era == kAnyProcess;
  }

  const Threads threads_;
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<ProcessEra> era_{kOver};
  ProcessEra opened_in_ = 0;
  OpenHandle* next_ = nullptr;  // guarded by the list
  OpenHandle* before_ = nullptr;
};

// The line on standard error that names a file which was not closed. `state`: of its bytes, but for what `failed`.
void print_unclosed(const OpenHandle& handle, const char* state, const Status& failed);

// Before a handle is closed or abandoned. It may be any address: only where it is open may it be looked at. Where it
// may be freed it is known as open no longer.
struct Taken {
  bool may_free = false;
  Status status;  // OK: it can be closed
};
Taken take_open_handle(const OpenHandle* handle, const char* call, const char* argument);

// Takes the handle, if it may be freed, and sets *handle to null. Not OK: freeing it is all that can be done.
template <class Handle>
Status take_handle(Handle** handle, const char* call, const char* argument, std::unique_ptr<Handle>& taken) {
  Taken is = take_open_handle(handle != nullptr ? *handle : nullptr, call, argument);
  if (is.may_free) taken.reset(std::exchange(*handle, nullptr));
  return std::move(is.status);
}

// A call on a handle, which may be null.
class InCall {
 public:
  explicit InCall(OpenHandle* handle) noexcept : handle_(handle) {
    if (handle_ != nullptr) handle_->enter();
  }
  ~InCall() {
    if (handle_ != nullptr) handle_->leave();
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

  bool ok() const noexcept { return handle_ != nullptr && (handle_->takes_calls() || is_allowed()); }
  // Why not.
  Status refusal(const char* call, const char* argument) const;
  static Status of_other_process(const char* call);

 private:
  static bool is_allowed() noexcept;  // to the thread that flushes what is unclosed

  OpenHandle* handle_;
};

// At the beginning of a call on `handle`, in a function that returns a Status.
#define TW_IN_CALL(handle, call) \
  const InCall in_call(handle);  \
  if (!in_call.ok()) return in_call.refusal(call, #handle)

}  // namespace thalweg
