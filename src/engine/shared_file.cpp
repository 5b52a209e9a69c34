#include "engine/shared_file.hpp"

#include <algorithm>

namespace thalweg {

SharedPosition::Ticket SharedPosition::draw() { return drawn_.fetch_add(1, std::memory_order_relaxed); }

void SharedPosition::settle(Ticket ticket, std::uint64_t value) { follow(ticket, value); }

// Another thread of task 0's process may have heard of a later ticket already: nothing goes back.
void SharedPosition::follow(Ticket ticket, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (ticket < settled_.load(std::memory_order_relaxed)) return;
  drawn_.store(std::max(drawn_.load(std::memory_order_relaxed), ticket + 1), std::memory_order_relaxed);
  value_.store(value, std::memory_order_relaxed);
  settled_.store(ticket + 1, std::memory_order_release);
}

}  // namespace thalweg
