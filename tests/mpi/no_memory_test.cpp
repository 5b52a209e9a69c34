// A rank, or a thread of one, that cannot allocate the result of a collective: one status on all, and none hangs.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include "capi/handles.hpp"
#include "group/mpi/mpi_group.hpp"
#include "sharedfile/plain_file.hpp"
#include "support/groups/process_mpi.hpp"
#include "support/groups/refused_collectives.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 200;  // time limit: then the program ends

class MpiNoMemory : public testing::Test {
 protected:
  void SetUp() override { ::alarm(kMostSeconds); }
  void TearDown() override { ::alarm(0); }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiNoMemory, IsOneStatusOfAllRanks) { whatever_is_refused_is_one_status(*world_.group()->impl); }

// Data above the packet size goes in many messages, each of which needs an entry in a list.
TEST_F(MpiNoMemory, IsOneStatusWhereMessagesAreShort) {
  MpiOptions options;
  options.message_limit = 256;
  whatever_is_refused_is_one_status(*make_mpi_group(MPI_COMM_WORLD, options).value());
}

TEST_F(MpiNoMemory, IsOneStatusOfAllThreadsOfRanks) {
  on_threads_of_ranks(world_, 1 + (world_.rank() + 1) % 3,
                      [](tw_group* group) { whatever_is_refused_is_one_status(*group->impl); });
}

// In a new group, in one with cached task data, and in one whose cache is outdated.
std::int64_t open_in_turn(Group& group, const std::string& path, bool poor, std::int64_t at) {
  const auto backend = posix_backend();
  std::int64_t most = 0;
  for (const char* hints : {"", "", "aggregators=1", ""}) {
    PlainOpen how;
    how.path = path;
    how.options.read = how.options.write = how.options.create = true;
    how.hints = hints;
    Result<std::unique_ptr<PlainFile>> opened = out_of_memory();
    {
      const Poor scope(poor, kBookkeeping, at);
      opened = run(PlainFile::open(group, backend, std::move(how)));
    }
    most = std::max(most, n_asked);
    const auto code = static_cast<std::int64_t>(opened.status().code());
    EXPECT_EQ(largest(group, code), -largest(group, -code));
    EXPECT_TRUE(opened.has_value() || opened.status().code() == Code::no_memory) << opened.status().message();
    if (opened.has_value()) {
      EXPECT_TRUE(run(opened.value()->close()).ok());
    }
  }
  return most;
}

void whatever_is_refused_to_an_open_is_one_status(Group& group, const std::string& path) {
  for (TaskRank poor_task = 0; poor_task < group.size(); ++poor_task) {
    std::int64_t asked = 0;
    for (std::int64_t at = 0; asked >= at; ++at) {
      const auto fresh = run(group.duplicate()).value();
      const bool poor = group.rank() == poor_task;
      const std::int64_t mine = open_in_turn(*fresh, path, poor, at);
      asked = largest(group, poor ? mine : 0);
      open_in_turn(*fresh, path, false, 0);
    }
  }
}

TEST_F(MpiNoMemory, ToOpenIsOneStatusOfAllRanks) {
  whatever_is_refused_to_an_open_is_one_status(*world_.group()->impl, folder_.path("f"));
}

TEST_F(MpiNoMemory, ToOpenIsOneStatusOfAllThreadsOfRanks) {
  on_threads_of_ranks(world_, 1 + (world_.rank() + 1) % 2, [&](tw_group* group) {
    whatever_is_refused_to_an_open_is_one_status(*group->impl, folder_.path("f"));
  });
}

}  // namespace
}  // namespace thalweg::test
