// OpenHandle: the common part of the handles of open multifiles, shared files and vpfiles. The process keeps a list of
// them, to detect a handle that was closed already, and to flush open ones when MPI or the program ends. They are not
// closed then, as their files may be incomplete.
//
// A handle that writes belongs to the process that opened it. In the child of a fork its calls fail.
//
// Threads: any. At the end of the program a handle that a thread is inside of is not flushed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/wire.hpp"
#include "capi/handles.hpp"
#include "group/groups.hpp"
#include "os/process_era.hpp"

namespace thalweg {

class OpenHandle {
 public:
  explicit OpenHandle(bool several_threads);  // several make calls on the handle at once
  virtual ~OpenHandle();
  OpenHandle(const OpenHandle&) = delete;
  OpenHandle& operator=(const OpenHandle&) = delete;

  // From then on it takes calls; where it `writes`, from this process alone.
  void opened(bool writes) noexcept {
    opened_in_ = process_era();
    era_.store(writes ? process_era() : kAnyProcess, std::memory_order_release);
  }

  // Handles that write, and have data in memory until a close, override these.
  // Independent: stores the bytes of this task in memory.
  virtual Status store_own() { return {}; }
  // The object that the tasks of this process share which have the file open; null: it is not open for writing.
  virtual const void* written() const { return nullptr; }
  // Called after store_own(), in place of the close. `by_all`: all tasks are in this process, and have stored their
  // bytes.
  virtual void end_unclosed([[maybe_unused]] bool by_all) {}
  virtual std::string path() const { return {}; }
  virtual std::string remedy() const;              // the command that makes what was flushed readable
  virtual bool is_first() const { return false; }  // task 0, which names the file

  virtual std::int64_t tasks() const = 0;
  // For a group that ends with MPI: begins to store this task's bytes, together with the others where all are needed,
  // and leaves the group, so that no task waits for this one.
  virtual bool needs_transport() const = 0;
  virtual Status begin_to_leave() = 0;

 private:
  friend class InCall;
  friend class OpenHandles;
  static constexpr ProcessEra kAnyProcess = ~ProcessEra{0};  // no era
  static constexpr ProcessEra kOver = kAnyProcess - 1;       // not open yet; MPI has ended, or the program

  // Marks the thread as inside of a call. Once calls are forbidden and all threads have seen that, the marks are
  // complete.
  void enter() noexcept {
    if (several_threads_)
      calls_.fetch_add(1, std::memory_order_relaxed);
    else
      calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void leave() noexcept {
    if (several_threads_)
      calls_.fetch_sub(1, std::memory_order_release);
    else
      calls_.store(calls_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  bool takes_calls() const noexcept {
    const ProcessEra era = era_.load(std::memory_order_acquire);
    return era == process_era() || era == kAnyProcess;
  }

  const bool several_threads_;
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<ProcessEra> era_{kOver};
  ProcessEra opened_in_ = 0;
  OpenHandle* next_ = nullptr;  // guarded by the list
  OpenHandle* before_ = nullptr;
};

// Prints the line about a file that was not closed. `state`: of its bytes; `failed`: of those that were not stored.
void print_unclosed(const OpenHandle& handle, const char* state, const Status& failed);

// Called before a handle is closed or abandoned; OK: it can be. `handle` may be any address, and is read only where it
// is in the list of open ones. `may_free`: it was taken off the list; without an OK, it can only be freed.
Status take_open_handle(const OpenHandle* handle, const char* call, const char* argument, bool& may_free);

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
  // The reason why the call is refused.
  Status refusal(const char* call, const char* argument) const;
  static Status of_other_process(const char* call);

 private:
  static bool is_allowed() noexcept;  // to the thread that flushes what is unclosed

  OpenHandle* handle_;
};

// A call on an open handle: `body(*handle)`, which returns a Status.
template <class Handle, class Body>
std::int32_t on_handle(Handle* handle, const char* call, Body&& body) noexcept {
  return guarded([&]() -> Status {
    const InCall in_call(handle);
    return in_call.ok() ? body(*handle) : in_call.refusal(call, Handle::kName);
  });
}

// A collective call on an open handle: `body` takes the object of the handle.
template <class Handle, class Body>
std::int32_t on_all(Handle* handle, Call call, Body&& body) noexcept {
  return on_handle(handle, name_of(call), [&](Handle& open) -> Status { return body(calling(open, call)); });
}

// A collective open. `fill()` takes the arguments; `open(tasks, status, handle)` makes a failure in them that of all
// tasks. The handle is null where there is no memory for it, so that the open fails on all tasks.
template <class Handle, class Fill, class Open>
std::int32_t open_with(tw_group* group, Call call, Handle** out, Fill&& fill, Open&& open) noexcept {
  return guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    const std::unique_ptr<Group> alone = group == nullptr ? make_self_group() : nullptr;
    Group& tasks = calling(group != nullptr ? *group->impl : *alone, call);
    Status mine = attempt(fill);
    if (out == nullptr && mine.ok()) mine = null_argument(name_of(call), Handle::kName);
    std::unique_ptr<Handle> handle(new (std::nothrow) Handle);
    if (handle == nullptr && mine.ok()) mine = out_of_memory();
    TW_RETURN_IF_ERROR(open(tasks, std::move(mine), handle.get()));
    *out = handle.release();
    return {};
  });
}

// A call that ends a handle: sets *handle to null and frees it after `body(*handle)`, which returns a Status.
template <class Handle, class Body>
std::int32_t end_handle(Handle** handle, Call call, Body&& body) noexcept {
  return guarded([&]() -> Status {
    std::unique_ptr<Handle> gone;
    bool may_free = false;
    Status is = take_open_handle(handle != nullptr ? *handle : nullptr, name_of(call), Handle::kName, may_free);
    if (may_free) gone.reset(std::exchange(*handle, nullptr));
    return is.ok() ? body(*gone) : is;
  });
}

}  // namespace thalweg
