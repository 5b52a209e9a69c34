#include "engine/shared_file.hpp"

#include "async/callers.hpp"

namespace thalweg {

SharedPosition::Ticket SharedPosition::draw() { return drawn_.fetch_add(1, std::memory_order_relaxed); }

void SharedPosition::settle(Ticket ticket, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (ticket < settled_.load(std::memory_order_relaxed)) return;
  Ticket drawn = drawn_.load(std::memory_order_relaxed);  // other threads may draw tickets meanwhile
  while (drawn < ticket + 1 && !drawn_.compare_exchange_weak(drawn, ticket + 1, std::memory_order_relaxed)) {
  }
  value_.store(value, std::memory_order_relaxed);
  settled_.store(ticket + 1, std::memory_order_release);
}

bool PositionTurn::ready(void* self) {
  const auto* turn = static_cast<const PositionTurn*>(self);
  if (turn->position.is_turn(turn->ticket)) return true;
  if (!turn->group.any_thread()) is_a_caller();  // a thread that waits here is about to make a collective
  advance_requests();
  return turn->position.is_turn(turn->ticket);
}

}  // namespace thalweg
