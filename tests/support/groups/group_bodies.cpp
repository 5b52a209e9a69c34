#include "support/groups/group_bodies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/wire.hpp"
#include "group/agree.hpp"
#include "support/groups/group_checks.hpp"
#include "support/groups/group_data.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {

namespace {

// A large group multiplies all sizes.
std::size_t scaled(const Group& group, std::size_t bytes) { return group.size() <= 16 ? bytes : bytes / 64 + 3; }

Op<Status> ranks_and_places_are_consistent(Group& group) {
  const Place here = group.place();
  std::vector<std::int64_t> mine(6);
  mine[0] = group.rank();
  mine[1] = here.process;
  mine[2] = here.node;
  mine[3] = here.process_leader;
  mine[4] = here.tasks_in_process;
  mine[5] = here.node_leader;
  const auto all = co_await group.allgather(view_of(mine));
  EXPECT_TRUE(all.has_value());
  if (!all.has_value()) co_return all.error();
  std::int64_t in_my_process = 0;
  std::int64_t last_process = -1;
  std::int64_t last_node = -1;
  TaskRank first_on_node = -1;
  for (TaskRank r = 0; r < group.size(); ++r) {
    const auto theirs = numbers_of(all.value().part(static_cast<std::size_t>(r)));
    EXPECT_EQ(theirs[0], r);
    last_process = std::max(last_process, theirs[1]);
    last_node = std::max(last_node, theirs[2]);
    if (theirs[2] == here.node) {
      if (first_on_node < 0) first_on_node = r;
      EXPECT_EQ(theirs[5], first_on_node);
    }
    if (theirs[1] != here.process) continue;
    ++in_my_process;
    EXPECT_EQ(theirs[2], here.node);
    EXPECT_EQ(theirs[3], here.process_leader);
    EXPECT_LE(here.process_leader, r);
  }
  EXPECT_EQ(in_my_process, here.tasks_in_process);
  EXPECT_EQ(last_process + 1, here.processes);
  EXPECT_EQ(last_node + 1, here.nodes);
  co_return Status{};
}

Op<Status> barriers_follow_each_other(Group& group) {
  for (int i = 0; i < 50; ++i) {
    const Status status = co_await group.barrier();
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

Op<Status> broadcast_from_every_root(Group& group) {
  const std::size_t lengths[] = {0, 1, 104, 105, 240, 241, 5000, 70000};
  for (const TaskRank root : some_ranks(group.size())) {
    for (const std::size_t length : lengths) {
      const Status status = co_await check_broadcast(group, root, length, scaled(group, length));
      if (!status.ok()) co_return status;
    }
  }
  co_return Status{};
}

Op<Status> gather_to_every_root(Group& group) {
  const std::size_t lengths[] = {0, 8, 48, 49, 300, 9000, 70000};
  for (const TaskRank root : some_ranks(group.size())) {
    for (const std::size_t longest : lengths) {
      const Status status = co_await check_gather(group, root, longest, scaled(group, longest));
      if (!status.ok()) co_return status;
    }
  }
  co_return Status{};
}

Op<Status> scatter_from_every_root(Group& group) {
  const std::size_t lengths[] = {0, 8, 48, 49, 300, 9000, 70000};
  for (const TaskRank root : some_ranks(group.size())) {
    for (const std::size_t longest : lengths) {
      const Status status = co_await check_scatter(group, root, longest, scaled(group, longest));
      if (!status.ok()) co_return status;
    }
  }
  co_return Status{};
}

Op<Status> allgather_of_different_lengths(Group& group) {
  const std::size_t lengths[] = {0, 8, 104, 400, 9000, 70000};
  for (const std::size_t longest : lengths) {
    const Status status = co_await check_allgather(group, longest, scaled(group, longest));
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

Op<Status> allreduce_in_every_way(Group& group) {
  const std::size_t lengths[] = {0, 1, 13, 14, 1000};
  for (const Reduction how : {Reduction::min, Reduction::max, Reduction::sum, Reduction::bit_or}) {
    for (const std::size_t length : lengths) {
      const Status status = co_await check_allreduce(group, length, scaled(group, length), how);
      if (!status.ok()) co_return status;
    }
  }
  co_return Status{};
}

// Ranks covered by a record; joining records other than rank neighbours in order invalidates it.
struct Folded {
  TaskRank first, last;
  bool good;
  std::byte filler[Folding::kMost - 24];
};

void join_neighbours(void* left, const void* right) {
  auto& mine = *static_cast<Folded*>(left);
  const auto& next = *static_cast<const Folded*>(right);
  mine.good = mine.good && next.good && mine.last + 1 == next.first;
  mine.last = next.last;
}

Op<Status> fold_joins_in_rank_order(Group& group) {
  for (const std::size_t bytes : {std::size_t{24}, sizeof(Folded)}) {
    for (int i = 0; i < 3; ++i) {
      Folded all{group.rank(), group.rank(), true, {}};
      Folded before{-1, -1, true, {}};
      const Folding how{bytes, join_neighbours};
      const Status status = co_await group.fold(&all, &before, how);
      if (!status.ok()) co_return status;
      EXPECT_TRUE(all.good && before.good);
      EXPECT_EQ(all.first, 0);
      EXPECT_EQ(all.last, group.size() - 1);
      EXPECT_EQ(before.first, group.rank() == 0 ? -1 : 0);
      EXPECT_EQ(before.last, group.rank() - 1);
    }
  }
  co_return Status{};
}

Op<Status> exchange_among_few_partners(Group& group) {
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Status status = co_await check_exchange(group, step, step % 2 == 0 ? 60 : 5000);
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

Op<Status> exchange_from_all_to_one(Group& group) {
  std::vector<Message> outgoing;
  outgoing.push_back({group.size() - 1, bytes_of(group.rank(), 3, 11)});
  const auto got = co_await group.exchange(std::move(outgoing));
  EXPECT_TRUE(got.has_value());
  if (!got.has_value()) co_return got.error();
  const bool receives = group.rank() == group.size() - 1;
  EXPECT_EQ(got.value().size(), receives ? static_cast<std::size_t>(group.size()) : 0U);
  for (std::size_t i = 0; i < got.value().size(); ++i) {
    EXPECT_EQ(got.value()[i].peer, static_cast<TaskRank>(i));
    EXPECT_TRUE(same(got.value()[i].data, bytes_of(static_cast<TaskRank>(i), 3, 11)));
  }
  co_return Status{};
}

// More messages to one task than few ranks announce in one step; short ones beside a long one.
Op<Status> exchange_of_many_messages(Group& group) {
  const TaskRank size = group.size();
  const TaskRank before = (group.rank() + size - 1) % size;
  const auto message = [](TaskRank from, std::size_t k) {
    return bytes_of(from, k, from == 0 && k == 1 ? 9000 : 20 * k);
  };
  for (const std::size_t n : {3U, 7U}) {
    std::vector<Message> outgoing;
    for (std::size_t k = 0; k < n; ++k) outgoing.push_back({(group.rank() + 1) % size, message(group.rank(), k)});
    const auto got = co_await group.exchange(std::move(outgoing));
    EXPECT_TRUE(got.has_value());
    if (!got.has_value()) co_return got.error();
    EXPECT_EQ(got.value().size(), n);
    for (std::size_t k = 0; k < got.value().size(); ++k) {
      EXPECT_EQ(got.value()[k].peer, before);
      EXPECT_TRUE(same(got.value()[k].data, message(before, k)));
    }
  }
  co_return Status{};
}

Op<Status> one_object_per_process(Group& group) {
  int made = 0;
  std::function<std::shared_ptr<void>()> make = [&made]() -> std::shared_ptr<void> {
    ++made;
    return std::make_shared<int>(17);
  };
  auto shared = co_await group.share_in_process(std::move(make));
  EXPECT_TRUE(shared.has_value());
  if (!shared.has_value()) co_return shared.error();
  const Place here = group.place();
  EXPECT_EQ(made, here.process_leader == group.rank() ? 1 : 0);
  EXPECT_EQ(*static_cast<int*>(shared.value().get()), 17);
  // All tasks of a process see the same address; the leader broadcasts its own.
  std::vector<std::int64_t> address(1, reinterpret_cast<std::intptr_t>(shared.value().get()));
  const auto all = co_await group.allgather(view_of(address));
  if (!all.has_value()) co_return all.error();
  EXPECT_EQ(numbers_of(all.value().part(static_cast<std::size_t>(here.process_leader)))[0], address[0]);
  std::function<std::shared_ptr<void>()> make_nothing = [] { return std::shared_ptr<void>(); };
  const auto nothing = co_await group.share_in_process(std::move(make_nothing));
  EXPECT_TRUE(nothing.has_value());
  if (nothing.has_value()) {
    EXPECT_EQ(nothing.value(), nullptr);
  }
  co_return nothing.status();
}

Op<Status> duplicates_are_independent(Group& group) {
  auto first = co_await group.duplicate();
  EXPECT_TRUE(first.has_value());
  if (!first.has_value()) co_return first.error();
  auto second = co_await first.value()->duplicate();
  EXPECT_TRUE(second.has_value());
  if (!second.has_value()) co_return second.error();
  EXPECT_EQ(second.value()->rank(), group.rank());
  EXPECT_EQ(second.value()->size(), group.size());
  EXPECT_EQ(second.value()->place().process, group.place().process);
  Group* all[] = {&group, first.value().get(), second.value().get()};
  for (std::uint64_t step = 0; step < 9; ++step) {
    const Status status = co_await check_gather(*all[step % 3], 0, step, 200);
    if (!status.ok()) co_return status;
  }
  first = Result<std::unique_ptr<Group>>(std::unique_ptr<Group>());  // the copy outlives the group it was made from
  co_return co_await check_allgather(*second.value(), 4, 20);
}

Op<Status> agreement_on_the_failure_of_each_task(Group& group) {
  const Status all_good = co_await agree(group, Status{});
  EXPECT_TRUE(all_good.ok());
  for (const TaskRank failing : some_ranks(group.size())) {
    Status mine;
    if (group.rank() == failing)
      mine = Status::failed_call(Code::no_space, ENOSPC, "disk is full at " + std::to_string(failing));
    const Status agreed = co_await agree(group, mine);
    EXPECT_EQ(agreed.code(), Code::no_space);
    EXPECT_EQ(agreed.os_errno(), ENOSPC);
    std::string expected = "disk is full at " + std::to_string(failing);
    if (group.size() > 1) expected = "task " + std::to_string(failing) + ": " + expected;
    EXPECT_EQ(agreed.message(), expected);
  }
  co_return Status{};
}

Op<Status> agreement_prefers_the_most_severe_then_the_lowest(Group& group) {
  Status mine = Status::error(Code::invalid_argument, "argument");
  const TaskRank first_severe = group.size() / 2;
  if (group.rank() >= first_severe) mine = Status::failed_call(Code::io_error, EIO, "device");
  const Status agreed = co_await agree(group, mine);
  EXPECT_EQ(agreed.code(), Code::io_error);
  EXPECT_EQ(agreed.os_errno(), EIO);
  if (group.size() > 1) {
    EXPECT_EQ(agreed.message(), "task " + std::to_string(first_severe) + ": device");
  }
  co_return Status{};
}

// When one task passes wrong arguments, all tasks get an error and none waits.
Op<Status> wrong_arguments_are_the_failure_of_all(Group& group) {
  const auto nowhere = co_await group.broadcast({}, group.size());
  EXPECT_FALSE(nowhere.has_value());
  for (const TaskRank wrong : some_ranks(group.size())) {
    Gathered too_few;
    too_few.begin.assign(static_cast<std::size_t>(group.size()), 0);
    const auto scattered = co_await group.scatter(too_few, wrong);
    EXPECT_EQ(scattered.status().code(), Code::invalid_argument);
    std::vector<Message> outgoing;
    if (group.rank() == wrong) outgoing.push_back({group.size() + 3, {}});
    if (group.rank() != wrong) outgoing.push_back({0, {}});
    const auto exchanged = co_await group.exchange(std::move(outgoing));
    EXPECT_EQ(exchanged.status().code(), Code::invalid_argument);
  }
  co_return co_await check_allgather(group, 1, 10);
}

Op<Status> large_data(Group& group) {
  if (group.size() > 16) co_return Status{};
  // The bytes of an all-to-all exchange grow with the square of the number of tasks.
  const std::size_t longest = group.size() <= 5 ? 3U << 20U : 300U << 10U;
  Status status = co_await check_broadcast(group, group.size() - 1, 1, longest + 1);
  if (status.ok()) status = co_await check_gather(group, group.size() / 2, 2, longest);
  if (status.ok()) status = co_await check_scatter(group, group.size() / 2, 3, longest);
  if (status.ok()) status = co_await check_allgather(group, 4, longest / 3);
  if (status.ok()) status = co_await check_exchange(group, 5, longest);
  co_return status;
}

Op<Status> one_random_collective(Group& group, std::uint64_t number, std::uint64_t step) {
  const auto root = static_cast<TaskRank>(number / 16 % static_cast<std::uint64_t>(group.size()));
  const std::size_t longest = number % 5 == 0 ? scaled(group, 2000) : number % 90;
  switch (number % 8) {
    case 0:
      return group.barrier();
    case 1:
      return check_broadcast(group, root, step, longest);
    case 2:
      return check_gather(group, root, step, longest);
    case 3:
      return check_scatter(group, root, step, longest);
    case 4:
      return check_allgather(group, step, longest);
    case 5:
      return check_allreduce(group, step, longest, Reduction::sum);
    case 6:
      return check_exchange(group, step, longest);
    default:
      return agree(group, Status{});
  }
}

// With the address sanitizer each coroutine that is resumed takes some stack, since GCC then makes no tail calls; where
// no collective has to wait, the stack grows until the body ends.
Op<Status> random_sequences(Group& group) {
  const std::uint64_t steps = group.size() > 16 ? 30 : (kWatchesMemory ? 100 : 200);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Status status = co_await one_random_collective(group, mixed(step + 12345), step);
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

}  // namespace

const std::vector<GroupBody>& group_bodies() {
  static const std::vector<GroupBody> bodies = {
      {"RanksAndPlacesAreConsistent", ranks_and_places_are_consistent},
      {"BarriersFollowEachOther", barriers_follow_each_other},
      {"BroadcastFromEveryRoot", broadcast_from_every_root},
      {"GatherToEveryRoot", gather_to_every_root},
      {"ScatterFromEveryRoot", scatter_from_every_root},
      {"AllgatherOfDifferentLengths", allgather_of_different_lengths},
      {"AllreduceInEveryWay", allreduce_in_every_way},
      {"FoldJoinsInRankOrder", fold_joins_in_rank_order},
      {"ExchangeAmongFewPartners", exchange_among_few_partners},
      {"ExchangeFromAllToOne", exchange_from_all_to_one},
      {"ExchangeOfManyMessages", exchange_of_many_messages},
      {"OneObjectPerProcess", one_object_per_process},
      {"DuplicatesAreIndependent", duplicates_are_independent},
      {"AgreementOnTheFailureOfEachTask", agreement_on_the_failure_of_each_task},
      {"AgreementPrefersTheMostSevereThenTheLowest", agreement_prefers_the_most_severe_then_the_lowest},
      {"WrongArgumentsAreTheFailureOfAll", wrong_arguments_are_the_failure_of_all},
      {"LargeData", large_data},
      {"RandomSequences", random_sequences},
  };
  return bodies;
}

}  // namespace thalweg::test
