// The conformance bodies on MPI ranks, and on all threads of all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "group/groups.hpp"
#include "group/mpi/mpi_group.hpp"
#include "support/groups/group_bodies.hpp"

namespace thalweg::test {
namespace {

enum class Kind { ranks, short_messages, threads_of_ranks, one_thread_each };

std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::ranks:
      return "Ranks";
    case Kind::short_messages:
      return "ShortMessages";
    case Kind::threads_of_ranks:
      return "ThreadsOfRanks";
    case Kind::one_thread_each:
      return "OneThreadEach";
  }
  return "";
}
void PrintTo(Kind kind, std::ostream* out) { *out << name_of(kind); }

void expect_ok(const OpBody& body, Group& group) {
  const Status status = run(body(group));
  EXPECT_TRUE(status.ok()) << status.message();
}

// Ranks have different numbers of threads. Thread 0 is the main thread and the only one that calls MPI.
void run_on_threads_of_ranks(std::int64_t threads, const OpBody& body) {
  const auto team = make_team(threads).value();
  on_threads(threads, [&](std::int64_t thread) {
    std::unique_ptr<Group> ranks;
    if (thread == 0) ranks = make_mpi_group(MPI_COMM_WORLD).value();
    auto mine = make_team_group(team, thread).value();
    const auto group = run(make_hybrid_group(std::move(mine), std::move(ranks)));
    ASSERT_TRUE(group.has_value());
    expect_ok(body, *group.value());
  });
}

class MpiGroupConformance : public testing::TestWithParam<std::tuple<Kind, GroupBody>> {};

TEST_P(MpiGroupConformance, Holds) {
  const auto& [kind, body] = GetParam();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  if (kind == Kind::threads_of_ranks) return run_on_threads_of_ranks(1 + (rank + 1) % 3, body.run);
  if (kind == Kind::one_thread_each) return run_on_threads_of_ranks(1, body.run);
  MpiOptions options;
  // An odd limit below every tested length: longer messages go in many pieces.
  if (kind == Kind::short_messages) options.message_limit = 1021;
  expect_ok(body.run, *make_mpi_group(MPI_COMM_WORLD, options).value());
}

INSTANTIATE_TEST_SUITE_P(
    Mpi, MpiGroupConformance,
    testing::Combine(testing::Values(Kind::ranks, Kind::short_messages, Kind::threads_of_ranks, Kind::one_thread_each),
                     testing::ValuesIn(group_bodies())),
    [](const auto& instance) { return name_of(std::get<0>(instance.param)) + "_" + std::get<1>(instance.param).name; });

// Channels of one communicator and, when its tags are used up, of the next one: their messages do not mix, also where
// collectives of several are under way at once.
TEST(MpiChannels, DoNotMix) {
  constexpr std::size_t kChannels = 10;
  MpiOptions options;
  options.largest_tag = 7;
  const auto group = make_mpi_group(MPI_COMM_WORLD, options).value();
  std::vector<std::unique_ptr<Group>> channels;
  for (std::size_t i = 0; i < kChannels; ++i) channels.push_back(run(group->channel()).value());
  std::vector<Op<Result<std::vector<std::int64_t>>>> sums;
  for (std::size_t i = 0; i < kChannels; ++i) {
    std::vector<std::int64_t> mine(1, static_cast<std::int64_t>(i) * 100 + group->rank());
    sums.push_back(channels[(i * 3) % kChannels]->allreduce(std::move(mine), Reduction::sum));
  }
  for (auto& sum : sums) sum.start();
  Driver& driver = Driver::current();
  while (!driver.idle()) driver.step_or_wait();

  const std::int64_t size = group->size();
  for (std::size_t i = 0; i < kChannels; ++i) {
    ASSERT_TRUE(sums[i].done());
    EXPECT_EQ(sums[i].value().value()[0], static_cast<std::int64_t>(i) * 100 * size + size * (size - 1) / 2);
  }
  channels.erase(channels.begin(), channels.begin() + 5);
  for (const auto& channel : channels) EXPECT_TRUE(run(channel->barrier()).ok());
  const auto copy = run(channels[0]->duplicate());
  ASSERT_TRUE(copy.has_value());
  expect_ok(group_bodies().front().run, *run(copy.value()->channel()).value());
}

}  // namespace
}  // namespace thalweg::test
