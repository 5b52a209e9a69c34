// Threads that use files of one communicator at the same time.
#include <thread>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

constexpr int kRounds = 40;

bool may_threads_call() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

// What every rank calls on its file, in an order of its own: `which` is the number of the file.
void call_in_turn(MPI_File file, int which) {
  const int rank = world_rank();
  const int size = world_size();
  for (int round = 0; round < kRounds; ++round) {
    const int mine = which * 1000000 + round * 100 + rank;
    if ((round + which) % 3 != 0) EXPECT_MPI(MPI_File_seek_shared(file, round * size, MPI_SEEK_SET));
    if ((round + which) % 2 == 0) EXPECT_MPI(MPI_File_set_atomicity(file, round % 4 < 2 ? 1 : 0));
    EXPECT_MPI(MPI_File_write_at_all(file, round * size + rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Offset position = -1;
    EXPECT_MPI(MPI_File_seek_shared(file, 10 * which + round, MPI_SEEK_SET));
    EXPECT_MPI(MPI_File_get_position_shared(file, &position));
    EXPECT_EQ(position, 10 * which + round) << "file " << which;
  }
}

TEST(MpiioThreads, CollectiveCallsOnFilesOfOneCommunicatorDoNotMix) {
  if (!may_threads_call()) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  const SharedFolder folder;
  {
    const OpenFile one(folder.path("0")), other(folder.path("1"));
    for (const MPI_File file : {one.get(), other.get()})
      EXPECT_MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    std::thread beside([&] { call_in_turn(one, 0); });
    call_in_turn(other, 1);
    beside.join();
  }
  for (int which = 0; which < 2 && world_rank() == 0; ++which) {
    const std::vector<int> found = ints_of(content(folder.path(std::to_string(which))));
    ASSERT_EQ(found.size(), static_cast<std::size_t>(kRounds * world_size()));
    for (int i = 0; i < kRounds * world_size(); ++i)
      EXPECT_EQ(found[static_cast<std::size_t>(i)], which * 1000000 + i / world_size() * 100 + i % world_size());
  }
}

// A rank may have closed a file that another one is still closing when both open the next file.
TEST(MpiioThreads, FilesThatAreClosedMeanwhileShareNoPointer) {
  if (!may_threads_call()) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  const SharedFolder folder;
  MPI_File kept = MPI_FILE_NULL, leaving[2] = {};
  for (int round = 0; round < kRounds; ++round) {
    for (MPI_File& file : leaving)
      EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, folder.path("leaves").c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                               MPI_INFO_NULL, &file));
    std::thread beside([&] { EXPECT_MPI(MPI_File_close(&leaving[0])); });
    EXPECT_MPI(MPI_File_close(&leaving[1]));
    const OpenFile opened(folder.path("opened"));
    if (round == 0)
      EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, folder.path("kept").c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                               MPI_INFO_NULL, &kept));
    beside.join();
    const char byte = 'x';
    for (const MPI_File file : {opened.get(), kept})
      EXPECT_MPI(MPI_File_write_shared(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    MPI_Offset position = 0;
    EXPECT_MPI(MPI_File_get_position_shared(opened, &position));
    EXPECT_EQ(position, world_size()) << "round " << round;
    EXPECT_MPI(MPI_File_get_position_shared(kept, &position));
    EXPECT_EQ(position, (round + 1) * world_size()) << "round " << round;
    barrier();
  }
  EXPECT_MPI(MPI_File_close(&kept));
}

}  // namespace
}  // namespace thalweg::test
