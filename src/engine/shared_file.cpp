#include "engine/shared_file.hpp"

#include "async/callers.hpp"

namespace thalweg {

SharedPosition::Ticket SharedPosition::draw() { return drawn_.fetch_add(1, std::memory_order_relaxed); }

// Another thread of task 0's process may have followed a later ticket already, so nothing goes back.
void SharedPosition::settle(Ticket ticket, std::uint64_t value) { follow(ticket, value); }

// Other threads may draw tickets meanwhile.
void SharedPosition::raise_drawn(Ticket least) {
  Ticket drawn = drawn_.load(std::memory_order_relaxed);
  while (drawn < least && !drawn_.compare_exchange_weak(drawn, least, std::memory_order_relaxed)) {
  }
}

void SharedPosition::follow(Ticket ticket, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (ticket < settled_.load(std::memory_order_relaxed)) return;
  raise_drawn(ticket + 1);
  value_.store(value, std::memory_order_relaxed);
  settled_.store(ticket + 1, std::memory_order_release);
}

bool PositionTurn::ready(void* self) {
  const auto* turn = static_cast<const PositionTurn*>(self);
  if (turn->position.is_turn(turn->ticket)) return true;
  if (!turn->group.any_thread()) is_a_caller();  // who waits here is about to make a collective of it
  advance_requests();
  return turn->position.is_turn(turn->ticket);
}

}  // namespace thalweg
