// State of an open file that tasks of a process share: the position, and locks on byte ranges.
#include "engine/shared_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

namespace thalweg {
namespace {

RangeLock::Hold hold_of(std::uint64_t begin, std::uint64_t end, bool exclusive) {
  RangeLock::Hold hold;
  hold.range = {begin, end};
  hold.exclusive = exclusive;
  return hold;
}

TEST(RangeLock, WritersShareARange) {
  RangeLock lock;
  auto a = hold_of(0, 100, false);
  auto b = hold_of(50, 150, false);

  EXPECT_TRUE(lock.try_lock(a));
  EXPECT_TRUE(lock.try_lock(b));
}

TEST(RangeLock, AnExclusiveHoldHasItsRangeAlone) {
  for (const bool first : {false, true}) {
    RangeLock lock;
    auto holder = hold_of(100, 200, first);
    auto other = hold_of(199, 300, !first);
    auto rewriter = hold_of(0, 101, true);
    auto before = hold_of(0, 100, true);
    auto behind = hold_of(200, 300, true);
    ASSERT_TRUE(lock.try_lock(holder));

    EXPECT_FALSE(lock.try_lock(other));
    EXPECT_FALSE(lock.try_lock(rewriter));
    EXPECT_TRUE(lock.try_lock(before));
    EXPECT_TRUE(lock.try_lock(behind));
  }
}

// Unlocking in any order leaves the other ranges locked.
TEST(RangeLock, UnlockingFreesOneRangeAndNoOther) {
  int order[] = {0, 1, 2, 3};
  do {
    RangeLock lock;
    RangeLock::Hold holds[4];
    for (std::uint64_t i = 0; i < 4; ++i) {
      holds[i] = hold_of(10 * i, 10 * i + 10, true);
      ASSERT_TRUE(lock.try_lock(holds[i]));
    }
    bool held[4] = {true, true, true, true};
    for (const int leaving : order) {
      lock.unlock(holds[leaving]);
      held[leaving] = false;
      for (std::uint64_t i = 0; i < 4; ++i) {
        auto probe = hold_of(10 * i + 5, 10 * i + 6, false);
        const bool entered = lock.try_lock(probe);
        EXPECT_EQ(entered, !held[i]);
        if (entered) lock.unlock(probe);
      }
    }
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(SharedPosition, IsShownInTheOrderOfTheTickets) {
  SharedPosition position;
  const auto first = position.draw();
  const auto second = position.draw();

  EXPECT_TRUE(position.is_turn(first));
  EXPECT_FALSE(position.is_turn(second));
  position.settle(first, 100);
  EXPECT_TRUE(position.is_turn(second));
  EXPECT_EQ(position.value(), 100u);
  position.settle(second, 100);
  EXPECT_TRUE(position.is_turn(position.draw()));
}

// Task 0 is in another process: a late message does not undo a newer one.
TEST(SharedPosition, FollowsTheLatestTicketThatWasHeard) {
  SharedPosition position;
  position.settle(0, 10);
  position.settle(2, 30);
  position.settle(1, 20);
  position.settle(2, 99);

  EXPECT_EQ(position.value(), 30u);
  EXPECT_TRUE(position.is_turn(position.draw()));
}

// One thread starts accesses in order while another carries them out; a ticket drawn twice would block all later ones.
TEST(SharedPosition, DrawsEachTicketOnce) {
  constexpr SharedPosition::Ticket kTickets = 2000000;
  SharedPosition position;
  std::atomic<SharedPosition::Ticket> drawn{0};
  std::thread settles([&] {
    for (SharedPosition::Ticket ticket = 0; ticket < kTickets; ++ticket) {
      while (drawn.load() <= ticket) std::this_thread::yield();
      position.settle(ticket, 8 * (ticket + 1));
    }
  });
  SharedPosition::Ticket n_wrong = 0;
  for (SharedPosition::Ticket ticket = 0; ticket < kTickets; ++ticket) {
    n_wrong += position.draw() != ticket ? 1 : 0;
    drawn = ticket + 1;
  }
  settles.join();
  EXPECT_EQ(n_wrong, 0u);
  EXPECT_EQ(position.value(), 8 * kTickets);
  EXPECT_TRUE(position.is_turn(kTickets));
}

}  // namespace
}  // namespace thalweg
