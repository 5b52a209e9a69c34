#include "async/callers.hpp"

#include <atomic>

namespace thalweg {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local bool a_caller = false;

std::atomic<void (*)(TransportEnd)> end_operations{nullptr};
std::atomic<void (*)(bool)> around_end{nullptr};

}  // namespace

void is_a_caller() { a_caller = true; }
bool this_is_a_caller() { return a_caller; }

void transport_ends(TransportEnd now) {
  const auto around = around_end.load(std::memory_order_acquire);
  if (around != nullptr) around(true);
  const auto look = end_operations.load(std::memory_order_acquire);
  if (look != nullptr)
    look(now);
  else
    now();
  if (around != nullptr) around(false);
}

void transport_ends_soon() {
  if (const auto look = end_operations.load(std::memory_order_acquire); look != nullptr) look(nullptr);
}

void set_transport_end(void (*look)(TransportEnd now)) { end_operations.store(look, std::memory_order_release); }
void set_around_transport_end(void (*around)(bool before)) { around_end.store(around, std::memory_order_release); }

}  // namespace thalweg
