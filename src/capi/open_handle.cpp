#include "capi/open_handle.hpp"

#include <fmt/core.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "async/callers.hpp"
#include "base/shell_word.hpp"
#include "base/wire.hpp"
#include "capi/guard.hpp"
#include "multifile/tier/drainer.hpp"
#include "os/threads.hpp"

namespace thalweg {

class OpenHandles {
 public:
  void add(OpenHandle& handle) {
    const std::lock_guard lock(mutex_);
    handle.next_ = first_;
    if (first_ != nullptr) first_->before_ = &handle;
    first_ = &handle;
  }
  void forget(const OpenHandle& handle) {
    const std::lock_guard lock(mutex_);
    if (has(&handle)) take_off(handle);
  }
  Status take(const OpenHandle* handle, const char* call, const char* argument, bool& may_free);

  // Flush the handles that are still open: when the program ends, and when MPI does.
  void flush_all();
  void leave_transport();
  void transport_has_ended();
  bool is_empty() {
    const std::lock_guard lock(mutex_);
    return first_ == nullptr;
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  bool has(const OpenHandle* handle) const {
    const OpenHandle* at = first_;
    while (at != nullptr && at != handle) at = at->next_;
    return at != nullptr;
  }
  void take_off(const OpenHandle& handle) {
    if (handle.before_ != nullptr) handle.before_->next_ = handle.next_;
    if (handle.next_ != nullptr) handle.next_->before_ = handle.before_;
    if (first_ == &handle) first_ = handle.next_;
  }
  // Claims the handles for which `wanted` is true and that no thread is inside of, in the order in which they were
  // opened. Their calls are refused from then on.
  template <class Wanted>
  std::vector<OpenHandle*> claim(Wanted wanted);

  std::mutex mutex_;
  OpenHandle* first_ = nullptr;  // the one that was opened last
  bool flushes_ = false;         // claimed handles are in use
};

void print_unclosed(const OpenHandle& handle, const char* state, const Status& failed) {
  const std::string but = failed.ok() ? std::string() : fmt::format(", but for what failed ({})", failed.message());
  const std::string line = fmt::format("thalweg: '{}' was not closed; {}{}; {} makes it readable\n", handle.path(),
                                       state, but, handle.remedy());
  (void)std::fputs(line.c_str(), stderr);
}

namespace {

constinit OpenHandles open_handles;  // never destroyed: it has nothing to destroy
[[gnu::tls_model("initial-exec")]] thread_local bool flushes_unclosed = false;

Status is_over(const char* call) {
  return invalid_argument(call, "MPI or the program has ended, which flushed what was written before");
}

// One task names the file, unless something failed.
void say_unclosed(const OpenHandle& handle, const char* state, const Status& status) {
  if (handle.is_first() || !status.ok()) print_unclosed(handle, state, status);
}

}  // namespace

Status OpenHandles::take(const OpenHandle* handle, const char* call, const char* argument, bool& may_free) {
  if (handle == nullptr) return null_argument(call, argument);
  const std::lock_guard lock(mutex_);
  if (!has(handle)) return invalid_argument(call, "{} is not open; was it closed before?", argument);
  const bool over = handle->era_.load(std::memory_order_relaxed) == OpenHandle::kOver;
  const bool is_elsewhere = handle->opened_in_ != process_era() && handle->tasks() > 1;
  if (!over && (is_elsewhere || !handle->takes_calls())) return InCall::of_other_process(call);
  if (over && flushes_) return is_over(call);
  take_off(*handle);
  may_free = true;
  return over ? is_over(call) : Status();
}

template <class Wanted>
std::vector<OpenHandle*> OpenHandles::claim(Wanted wanted) {
  const std::lock_guard lock(mutex_);
  flushes_ = true;
  std::vector<std::pair<OpenHandle*, ProcessEra>> seen;
  for (OpenHandle* handle = first_; handle != nullptr; handle = handle->next_) {
    if (handle->takes_calls() && wanted(*handle)) seen.emplace_back(handle, handle->era_.exchange(OpenHandle::kOver));
  }
  std::vector<OpenHandle*> claimed;
  claimed.reserve(seen.size());
  const bool known_to_all = !seen.empty() && all_threads_see_all_stores();
  for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
    if (known_to_all && at->first->calls_.load(std::memory_order_acquire) == 0) {
      claimed.push_back(at->first);
    } else {
      at->first->era_.store(at->second);
      if (at->first->written() != nullptr) say_unclosed(*at->first, "only what was flushed is in its files", {});
    }
  }
  return claimed;
}

// A row of a vpfile that the tasks of this process have stored counts once task 0 has recorded it in NAME.meta.
void OpenHandles::flush_all() {
  flushes_unclosed = true;
  const std::vector<OpenHandle*> left = claim([](const OpenHandle& handle) { return handle.written() != nullptr; });
  std::map<const void*, std::int64_t> stored;  // tasks, by what they have written
  std::map<const void*, Status> failed;
  for (OpenHandle* handle : left) {
    const Status status = attempt([&] { return handle->store_own(); });
    stored[handle->written()] += status.ok() ? 1 : 0;
    if (!status.ok()) failed.try_emplace(handle->written(), status);
  }
  for (OpenHandle* handle : left) {
    const void* const written = handle->written();
    handle->end_unclosed(stored[written] == handle->tasks());
    say_unclosed(*handle, "what was written is in its files", failed[written]);
  }
}

void OpenHandles::leave_transport() {
  for (OpenHandle* handle : claim([](const OpenHandle& handle) { return handle.needs_transport(); })) {
    flushes_unclosed = true;
    const Status status = attempt([&] { return handle->begin_to_leave(); });
    flushes_unclosed = false;
    if (handle->written() != nullptr) say_unclosed(*handle, "MPI_Finalize flushes what was written", status);
  }
}

void OpenHandles::transport_has_ended() {
  const std::lock_guard lock(mutex_);
  flushes_ = false;
}

namespace {

template <class Flush>
void flush_or_say(Flush flush) {
  try {
    flush();
  } catch (...) {
    (void)std::fputs("thalweg: out of memory; what was not closed is not all flushed\n", stderr);
  }
}

// Runs on a thread of its own, as objects of the ending one are destroyed by now.
void at_exit() {
  (void)await_drains().ok();  // its thread has told what failed
  if (open_handles.is_empty()) return;
  const auto flush = [] { flush_or_say([] { open_handles.flush_all(); }); };
  try {
    std::thread(flush).join();
  } catch (...) {
    flush();  // no thread could be started
  }
}

void around_transport_end(bool before) {
  if (before) {
    flush_or_say([] { open_handles.leave_transport(); });
    (void)await_drains().ok();  // its thread has told what failed
  } else {
    open_handles.transport_has_ended();
  }
}

// Runs before the objects of the library and of the program are made, so that the flush comes after their destruction.
[[gnu::constructor(101)]] void wait_for_end() {
  (void)::pthread_atfork([] { open_handles.before_fork(); }, [] { open_handles.after_fork(); },
                         [] {
                           begin_process_era();
                           open_handles.after_fork();
                         });
  set_around_transport_end(around_transport_end);
  (void)std::atexit(at_exit);
}

}  // namespace

OpenHandle::OpenHandle(bool several_threads) : several_threads_(several_threads) { open_handles.add(*this); }
std::string OpenHandle::remedy() const { return repair_command(path()); }
OpenHandle::~OpenHandle() { open_handles.forget(*this); }

Status take_open_handle(const OpenHandle* handle, const char* call, const char* argument, bool& may_free) {
  return open_handles.take(handle, call, argument, may_free);
}

bool InCall::is_allowed() noexcept { return flushes_unclosed; }

Status InCall::of_other_process(const char* call) {
  return Status::error(Code::wrong_mode,
                       "{}: the handle belongs to the process that opened it for writing, of which this one is a child",
                       call);
}

Status InCall::refusal(const char* call, const char* argument) const {
  if (handle_ == nullptr) return null_argument(call, argument);
  const bool over = handle_->era_.load(std::memory_order_relaxed) == OpenHandle::kOver;
  return over ? is_over(call) : of_other_process(call);
}

}  // namespace thalweg
