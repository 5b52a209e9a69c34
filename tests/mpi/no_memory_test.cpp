// A rank, or a thread of one, that cannot allocate what a collective brings: one status on all, and nobody waits.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include "capi/handles.hpp"
#include "group/mpi_group.hpp"
#include "support/process_mpi.hpp"
#include "support/refused_collectives.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 200;  // then a hang is taken for certain, and the program ends

class MpiNoMemory : public testing::Test {
 protected:
  void SetUp() override { ::alarm(kMostSeconds); }
  void TearDown() override { ::alarm(0); }

  Comm world_{MPI_COMM_WORLD};
};

TEST_F(MpiNoMemory, IsOneStatusOfAllRanks) { whatever_is_refused_is_one_status(*world_.group()->impl); }

// All that is longer than a packet goes in many messages, each of which has to be listed.
TEST_F(MpiNoMemory, IsOneStatusWhereMessagesAreShort) {
  MpiOptions options;
  options.message_limit = 16;
  whatever_is_refused_is_one_status(*make_mpi_group(MPI_COMM_WORLD, options).value());
}

TEST_F(MpiNoMemory, IsOneStatusOfAllThreadsOfRanks) {
  on_threads_of_ranks(world_, 1 + (world_.rank() + 1) % 3,
                      [](tw_group* group) { whatever_is_refused_is_one_status(*group->impl); });
}

}  // namespace
}  // namespace thalweg::test
