// Op<T>: a lazily started coroutine; Driver: resumes suspended ones.
//
// One text of a collective serves blocking use (run to the end), polled use (step the driver from time to time), a
// progress thread (which owns the driver) and simulation (thousands of tasks on one thread).
//
// An Op either completes or is parked on exactly one WaitPoint of the current Driver of this thread. A Driver belongs
// to one thread at a time. An Op that is destroyed while parked must not be resumed: keep an Op alive until done().
//
// Workarounds for two defects of GCC 12 in coroutines: `co_await f(a ? b : c)` destroys the result of `?:` twice, so
// store it first; a braced list in the operand of co_await does not compile.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "async/last_words.hpp"
#include "base/visibility.hpp"
#include "os/backoff.hpp"

namespace thalweg {

// Memory for a frame, from malloc. On failure the program ends with one line: the task cannot inform the others.
TW_SHARED void* take_frame(std::size_t bytes);

template <class T>
class [[nodiscard]] Op {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> awaiter = std::noop_coroutine();
    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* frame) { std::free(frame); }
    Op get_return_object() { return Op(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Resume {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
          return h.promise().awaiter;
        }
        void await_resume() noexcept {}
      };
      return Resume{};
    }
    template <class U>
    void return_value(U&& v) {
      value.emplace(std::forward<U>(v));
    }
    // No exception leaves the engine: other tasks may wait for the next collective, and transfers may be in flight
    // into memory that the frames hold.
    [[noreturn]] void unhandled_exception() noexcept { end_on_exception(); }
  };

  explicit Op(std::coroutine_handle<promise_type> h) : handle_(h) {}
  Op(Op&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Op& operator=(Op&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return handle_.done(); }
  T& value() { return *handle_.promise().value; }  // only when done()
  void start() { handle_.resume(); }               // once

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  T await_resume() { return std::move(*handle_.promise().value); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// co_await: the condition of a suspended coroutine, which parks on the current driver until `ready`. `ready` is cheap
// and may be called any number of times, but not again once it has returned true. `block` waits up to about a
// millisecond, without using the core, for `ready` to become likely; null: the driver yields.
struct WaitPoint {
  bool (*ready)(void* subject) = nullptr;
  void (*block)(void* subject) = nullptr;
  void* subject = nullptr;

  bool await_ready() const { return ready(subject); }
  void await_suspend(std::coroutine_handle<> coroutine) const;
  void await_resume() const {}
};

class TW_SHARED Driver {
 public:
  // Without memory the program ends here, before an exception destroys frames that other tasks are reading.
  void park(WaitPoint point, std::coroutine_handle<> coroutine) noexcept try {
    waiting_.emplace_back(point, coroutine);
  } catch (...) {
    end_on_exception();
  }
  // Resumes all coroutines that are ready; true if there was one.
  bool step();
  // Steps, or waits for at most about a millisecond when nothing is ready.
  void step_or_wait();
  bool idle() const { return waiting_.empty(); }

  // Whether an awaiter may spin for some microseconds before it parks: within block(), when no other coroutine waits. A
  // polled driver or a progress thread never spins.
  bool may_spin() const { return blocking_ > 0 && waiting_.empty(); }

  // Blocks on this driver: calls start(), which may throw, then steps or waits until done() is true.
  template <class Start, class Done>
  void block(Start&& start, Done&& done) {
    const std::unique_ptr<unsigned, decltype([](unsigned* depth) { --*depth; })> counted(&++blocking_);
    start();
    while (!done()) step_or_wait();
  }

  // Work of the process while a thread waits in step_or_wait(), on which other tasks may depend. Set once.
  enum class Meanwhile { nothing_to_do, nothing_done, something_done };
  static void set_meanwhile(Meanwhile (*look)());

  // The driver on which coroutines of this thread park. Each thread has one by default.
  static Driver& current();

  // Makes `driver` the current one of this thread for a scope.
  class TW_SHARED Use {
   public:
    explicit Use(Driver& driver);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Driver* before_;
  };

 private:
  std::vector<std::pair<WaitPoint, std::coroutine_handle<>>> waiting_;
  Backoff backoff_;        // reset when something is ready
  unsigned blocking_ = 0;  // depth of block() on this driver
};

inline void WaitPoint::await_suspend(std::coroutine_handle<> coroutine) const {
  Driver::current().park(*this, coroutine);
}

// Blocking use: starts `op` and runs it to its end on this thread's driver.
template <class T>
T run(Op<T> op) {
  Driver::current().block([&] { op.start(); }, [&] { return op.done(); });
  return std::move(op.value());
}

}  // namespace thalweg
