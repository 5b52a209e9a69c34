#include "support/groups/group_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/groups/group_data.hpp"

namespace thalweg::test {

Op<Status> check_broadcast(Group& group, TaskRank root, std::uint64_t step, std::size_t length) {
  const Bytes sent = bytes_of(root, step, length);
  const ByteView mine = group.rank() == root ? ByteView(sent) : ByteView{};
  const auto got = co_await group.broadcast(mine, root);
  EXPECT_TRUE(got.has_value());
  if (got.has_value()) {
    EXPECT_TRUE(same(got.value(), sent)) << "root " << root << " length " << length;
  }
  co_return got.status();
}

Op<Status> check_gather(Group& group, TaskRank root, std::uint64_t step, std::size_t longest) {
  const Bytes mine = bytes_of(group.rank(), step, length_of(group.rank(), step, longest));
  const auto got = co_await group.gather(mine, root);
  EXPECT_TRUE(got.has_value());
  if (!got.has_value()) co_return got.error();
  if (group.rank() != root) {
    EXPECT_EQ(got.value().parts(), 0U);
    co_return Status{};
  }
  const Gathered expected = parts_for(group.size(), step, longest);
  EXPECT_EQ(got.value().begin, expected.begin);
  EXPECT_TRUE(same(got.value().data, expected.data));
  co_return Status{};
}

Op<Status> check_scatter(Group& group, TaskRank root, std::uint64_t step, std::size_t longest) {
  const Gathered parts = group.rank() == root ? parts_for(group.size(), step, longest) : Gathered{};
  const auto got = co_await group.scatter(parts, root);
  EXPECT_TRUE(got.has_value());
  const Bytes expected = bytes_of(group.rank(), step, length_of(group.rank(), step, longest));
  if (got.has_value()) {
    EXPECT_TRUE(same(got.value(), expected)) << "root " << root;
  }
  co_return got.status();
}

Op<Status> check_allgather(Group& group, std::uint64_t step, std::size_t longest) {
  const Bytes mine = bytes_of(group.rank(), step, length_of(group.rank(), step, longest));
  const auto got = co_await group.allgather(mine);
  EXPECT_TRUE(got.has_value());
  if (!got.has_value()) co_return got.error();
  const Gathered expected = parts_for(group.size(), step, longest);
  EXPECT_EQ(got.value().begin, expected.begin);
  EXPECT_TRUE(same(got.value().data, expected.data));
  co_return Status{};
}

namespace {

std::int64_t number_of(TaskRank rank, std::uint64_t step, std::size_t i) {
  return static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(rank) + step * 31 + i * 1009) % 2000003) - 1000001;
}

std::int64_t reduced(TaskRank size, std::uint64_t step, std::size_t i, Reduction how) {
  std::int64_t result = number_of(0, step, i);
  for (TaskRank r = 1; r < size; ++r) {
    const std::int64_t other = number_of(r, step, i);
    switch (how) {
      case Reduction::min:
        result = std::min(result, other);
        break;
      case Reduction::max:
        result = std::max(result, other);
        break;
      case Reduction::sum:
        result += other;
        break;
      case Reduction::bit_or:
        result |= other;
        break;
    }
  }
  return result;
}

}  // namespace

Op<Status> check_allreduce(Group& group, std::uint64_t step, std::size_t length, Reduction how) {
  std::vector<std::int64_t> mine(length);
  for (std::size_t i = 0; i < length; ++i) mine[i] = number_of(group.rank(), step, i);
  const auto got = co_await group.allreduce(mine, how);
  EXPECT_TRUE(got.has_value());
  if (!got.has_value()) co_return got.error();
  EXPECT_EQ(got.value().size(), length);
  for (const std::size_t i : {std::size_t{0}, length / 2, length - 1}) {
    if (length > 0) {
      EXPECT_EQ(got.value()[i], reduced(group.size(), step, i, how));
    }
  }
  co_return Status{};
}

namespace {

// Receivers of task `rank` in `step`: none to three messages, possibly several to one task or to itself.
std::vector<TaskRank> peers_of(TaskRank rank, TaskRank size, std::uint64_t step) {
  const std::uint64_t number = mixed(static_cast<std::uint64_t>(rank) * 257 + step);
  std::vector<TaskRank> peers;
  for (std::uint64_t k = 0; k < number % 4; ++k) {
    peers.push_back(static_cast<TaskRank>(mixed(number + k) % static_cast<std::uint64_t>(size)));
  }
  return peers;
}

Bytes letter(TaskRank from, std::size_t k, std::uint64_t step, std::size_t longest) {
  return bytes_of(from, step * 8 + k, length_of(from, step * 8 + k, longest));
}

}  // namespace

Op<Status> check_exchange(Group& group, std::uint64_t step, std::size_t longest) {
  std::vector<Message> outgoing;
  const std::vector<TaskRank> peers = peers_of(group.rank(), group.size(), step);
  for (std::size_t k = 0; k < peers.size(); ++k) outgoing.push_back({peers[k], letter(group.rank(), k, step, longest)});
  const auto got = co_await group.exchange(std::move(outgoing));
  EXPECT_TRUE(got.has_value());
  if (!got.has_value()) co_return got.error();
  std::size_t next = 0;
  for (TaskRank from = 0; from < group.size(); ++from) {
    const std::vector<TaskRank> theirs = peers_of(from, group.size(), step);
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      if (theirs[k] != group.rank()) continue;
      const bool there = next < got.value().size();
      EXPECT_TRUE(there);
      if (!there) co_return Status{};
      EXPECT_EQ(got.value()[next].peer, from);
      EXPECT_TRUE(same(got.value()[next].data, letter(from, k, step, longest)));
      ++next;
    }
  }
  EXPECT_EQ(next, got.value().size());
  co_return Status{};
}

}  // namespace thalweg::test
