#include "group/callers.hpp"

#include <atomic>

namespace thalweg {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local bool a_caller = false;

std::atomic<void (*)(TransportEnd)> end_operations{nullptr};
std::atomic<void (*)()> begin_last{nullptr};

}  // namespace

void is_a_caller() { a_caller = true; }
bool this_is_a_caller() { return a_caller; }

void transport_ends(TransportEnd now) {
  if (const auto begin = begin_last.load(std::memory_order_acquire); begin != nullptr) begin();
  const auto look = end_operations.load(std::memory_order_acquire);
  return look != nullptr ? look(now) : now();
}

void set_transport_end(void (*look)(TransportEnd now)) { end_operations.store(look, std::memory_order_release); }
void set_before_transport_end(void (*begin)()) { begin_last.store(begin, std::memory_order_release); }

}  // namespace thalweg
