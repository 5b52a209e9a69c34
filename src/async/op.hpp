// Op<T>: a lazily started coroutine, and Driver: what advances suspended ones.
//
// One text of a collective serves blocking use (drive it to the end), polled use (step the driver now and
// then), a progress thread (which owns the driver) and simulation (thousands of tasks on one thread).
//
// An Op either completes or is parked on exactly one WaitPoint of the Driver current on this thread. A Driver
// belongs to one thread at a time. An Op that is destroyed while parked must not be resumed: keep an Op alive
// until done().
//
// Two defects of GCC 12, to be stepped around in coroutines: `co_await f(a ? b : c)` destroys twice what the `?:`
// made, so make it before; and a braced list in the operand of co_await does not compile.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "async/last_words.hpp"
#include "base/visibility.hpp"
#include "os/backoff.hpp"

namespace thalweg {

// Memory for a frame, from malloc. The other tasks could not be told that it is refused: the program ends with one line.
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
    // No exception leaves the engine: other tasks may be waiting for what should have come next, and transfers may be
    // under way into memory that the frames hold.
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

// What a suspended coroutine waits for. `ready` is cheap and may be called any number of times; once it said
// true it is not called again. `block` (may be null: then the driver yields) waits for at most about a
// millisecond, without burning a core, for `ready` to become likely.
struct WaitPoint {
  bool (*ready)(void* subject) = nullptr;
  void (*block)(void* subject) = nullptr;
  void* subject = nullptr;
};

class TW_SHARED Driver {
 public:
  void park(WaitPoint point, std::coroutine_handle<> coroutine) { waiting_.push_back({point, coroutine}); }
  // Takes the memory for so many parked coroutines, so that park() cannot fail. May throw std::bad_alloc.
  void reserve(std::size_t coroutines);
  // Resumes whatever has become ready; true if anything was.
  bool step();
  // Steps, or waits a little where nothing is ready. Returns after at most about a millisecond.
  void step_or_wait();
  bool idle() const { return waiting_.empty(); }

  // May an awaiter spin for some microseconds before it parks? Only when the thread has nothing better to do: it is
  // inside run() and no other coroutine waits. A polled driver or a progress thread never spins.
  bool may_spin() const { return blocking_ > 0 && waiting_.empty(); }

  // The thread blocks on this driver for a scope.
  class Blocking {
   public:
    explicit Blocking(Driver& driver) : driver_(driver) { ++driver_.blocking_; }
    ~Blocking() { --driver_.blocking_; }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    Driver& driver_;
  };

  // What the library does, anywhere in this process, while a thread has to wait in step_or_wait(): others may be
  // waiting for it. Set once.
  enum class Meanwhile { nothing_to_do, nothing_done, something_done };
  static void set_meanwhile(Meanwhile (*look)());

  // The driver on which coroutines of this thread park. One per thread exists by default.
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
  struct Waiting {
    WaitPoint point;
    std::coroutine_handle<> coroutine;
  };
  std::vector<Waiting> waiting_;
  Backoff backoff_;        // since something was ready
  unsigned blocking_ = 0;  // depth of run() on this driver
};

// co_await Until{point}: parks on the current driver until point.ready.
struct Until {
  WaitPoint point;
  bool await_ready() const { return point.ready(point.subject); }
  void await_suspend(std::coroutine_handle<> h) const { Driver::current().park(point, h); }
  void await_resume() const {}
};

// Blocking use: starts `op` and drives it to its end on this thread's driver.
template <class T>
T run(Op<T> op) {
  Driver& driver = Driver::current();
  const Driver::Blocking blocking(driver);
  op.start();
  while (!op.done()) driver.step_or_wait();
  return std::move(op.value());
}

}  // namespace thalweg
