// Atomic mode: accesses that overlap are whole, in some order.
#include <algorithm>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

constexpr int kBytes = 300000;

bool is_of_one_rank(const std::vector<char>& read) {
  return std::ranges::all_of(read, [&](char byte) { return byte == read[0]; });
}

std::vector<char> block(int n) {
  return std::vector<char>(static_cast<std::size_t>(n), static_cast<char>('a' + world_rank()));
}

TEST(MpiioAtomic, WritesOfAllRanksAtOnePlaceAreWhole) {
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  const std::vector<char> mine = block(kBytes);
  std::vector<char> read(kBytes);
  for (int round = 0; round < 10; ++round) {
    if (round % 2 == 0) {
      EXPECT_MPI(MPI_File_write_at_all(file, 0, mine.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
      EXPECT_MPI(MPI_File_write_at(file, 0, mine.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    // Others may still be writing: a read is of one of them all the same.
    EXPECT_MPI(MPI_File_read_at(file, 0, read.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT_TRUE(is_of_one_rank(read)) << "round " << round;
  }
  barrier();
}

TEST(MpiioAtomic, PiecesOfAViewAreWholeTogether) {
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_vector(kBytes / 100, 50, 100, MPI_BYTE, &spaced);
  const Type type(spaced);
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  const std::vector<char> mine = block(kBytes / 2);
  std::vector<char> read(kBytes / 2);
  for (int round = 0; round < 5; ++round) {
    MPI_Request request;
    EXPECT_MPI(MPI_File_iwrite_at_all(file, 0, mine.data(), kBytes / 2, MPI_BYTE, &request));
    EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_read_at(file, 0, read.data(), kBytes / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT_TRUE(is_of_one_rank(read)) << "round " << round;
  }
  barrier();
}

TEST(MpiioAtomic, FlagsThatDifferAreAnErrorOnAllRanks) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  EXPECT_CLASS(MPI_ERR_NOT_SAME, MPI_File_set_atomicity(file, world_rank() == 0 ? 1 : 0));
  int flag = 1;
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT_EQ(flag, 0);
}

}  // namespace
}  // namespace thalweg::test
