// The engine's bodies on MPI groups: ranks, and all threads of all ranks, in one shared file.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "capi/handles.hpp"
#include "support/engine/engine_bodies.hpp"
#include "support/groups/process_mpi.hpp"

namespace thalweg::test {
namespace {

class MpiEngine : public testing::Test {
 protected:
  void expect_all(tw_group* group) {
    const Storage storage{posix_backend(), folder_.path("shared.dat")};
    for (const EngineBody& body : engine_bodies()) {
      const Status status = run(body.run(*group->impl, storage));

      EXPECT_TRUE(status.ok()) << "in " << body.name << ": " << status.message();
    }
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiEngine, HoldsOnRanks) { expect_all(world_.group()); }

TEST_F(MpiEngine, HoldsOnThreadsOfRanks) {
  on_threads_of_ranks(world_, 1 + world_.rank() % 2, [&](tw_group* group) { expect_all(group); });
}

}  // namespace
}  // namespace thalweg::test
