#include "async/op.hpp"

#include <atomic>

namespace thalweg {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local Driver* current_driver = nullptr;

std::atomic<Driver::Meanwhile (*)()> meanwhile{nullptr};

}  // namespace

void* take_frame(std::size_t bytes) {
  void* const frame = std::malloc(bytes);
  if (frame == nullptr) end_in_call("out of memory");
  return frame;
}

bool Driver::step() {
  bool any = false;
  // By index: a resumed coroutine may park again, at the end of the list.
  for (std::size_t i = 0; i < waiting_.size();) {
    const auto [point, coroutine] = waiting_[i];
    if (!point.ready(point.subject)) {
      ++i;
      continue;
    }
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
    coroutine.resume();
    any = true;
  }
  if (any) backoff_.reset();
  return any;
}

void Driver::set_meanwhile(Meanwhile (*look)()) { meanwhile.store(look, std::memory_order_release); }

void Driver::step_or_wait() {
  if (step()) return;
  const auto look = meanwhile.load(std::memory_order_acquire);
  const Meanwhile elsewhere = look != nullptr ? look() : Meanwhile::nothing_to_do;
  if (elsewhere == Meanwhile::something_done) return;
  // Only a single wait may block: blocking on one of several would notice the others up to a millisecond late.
  if (elsewhere == Meanwhile::nothing_to_do && waiting_.size() == 1 && waiting_[0].first.block != nullptr) {
    const WaitPoint point = waiting_[0].first;
    return point.block(point.subject);
  }
  backoff_.wait();
}

Driver& Driver::current() {
  thread_local Driver own;
  return current_driver != nullptr ? *current_driver : own;
}

Driver::Use::Use(Driver& driver) : before_(current_driver) { current_driver = &driver; }
Driver::Use::~Use() { current_driver = before_; }

}  // namespace thalweg
