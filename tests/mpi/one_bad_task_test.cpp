// One rank with wrong arguments: all ranks get the failure, and the communicator stays usable.
#include "multifile/one_bad_task.hpp"

#include <mpi.h>

#include "group/mpi/mpi_group.hpp"
#include "support/groups/process_mpi.hpp"

namespace thalweg::test {
namespace {

std::vector<TaskRank> spoilers(int ranks) {
  std::vector<TaskRank> all = {0};
  if (ranks > 1) all.push_back(ranks - 1);
  return all;
}

class MpiOneBadTask : public testing::Test {
 protected:
  // Creates the file that is read or appended to.
  void begin(MultifileMode access) {
    if (world_.rank() == 0) {
      std::filesystem::remove(path_);
      prepare(posix_backend(), path_, access, world_.size());
    }
    world_.barrier();
  }
  // Equal on all ranks, so that they continue together.
  bool failed() {
    int mine = HasFailure(), any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world_.comm());
    return any != 0;
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
  const std::string path_ = folder_.path("run.tw");
};

TEST_F(MpiOneBadTask, MakesAllRanksFailTheSameWay) {
  const auto group = make_mpi_group(world_.comm()).value();
  for (const BadRequest& bad : bad_requests()) {
    for (const TaskRank spoiler : spoilers(world_.size())) {
      if (bad.needs_others && world_.size() == 1) continue;
      begin(bad.good);

      EXPECT_TRUE(run(one_bad_request(*group, posix_backend(), path_, bad, spoiler)).ok());

      ASSERT_FALSE(failed()) << bad.name << " by rank " << spoiler;
    }
  }
}

TEST_F(MpiOneBadTask, IsToldThroughTheCApi) {
  const auto group = make_mpi_group(world_.comm()).value();
  for (const BadCall& bad : bad_calls()) {
    for (const auto& [mode, access] : modes()) {
      for (const TaskRank spoiler : spoilers(world_.size())) {
        begin(access);

        one_bad_call(*group, path_, mode, bad, spoiler);

        ASSERT_FALSE(failed()) << bad.name << ", mode " << mode << ", by rank " << spoiler;
      }
    }
  }
}

}  // namespace
}  // namespace thalweg::test
