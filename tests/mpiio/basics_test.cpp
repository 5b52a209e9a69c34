// A file is written, closed, opened and read, by all ranks: also the program that is linked to the library.
#include <unistd.h>

#include <cstdlib>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

TEST(MpiioBasics, WhatWasWrittenIsReadAfterAnotherOpen) {
  const SharedFolder folder;
  const std::vector<int> mine = numbers(100, world_rank() * 100);
  {
    const OpenFile file(folder.path("data"));
    MPI_Status status;
    EXPECT_MPI(MPI_File_write_at_all(file, world_rank() * 400, mine.data(), 100, MPI_INT, &status));
    EXPECT_EQ(count_of(status, MPI_INT), 100);
  }
  // FUSE keeps sizes for a second where a node opens the file by itself.
  if (std::getenv("TW_NODE") != nullptr) ::sleep(2);
  EXPECT_EQ(ints_of(content(folder.path("data"))), numbers(100 * world_size(), 0));

  const OpenFile file(folder.path("data"), MPI_MODE_RDONLY);
  std::vector<int> back(100);
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_at(file, world_rank() * 400, back.data(), 100, MPI_INT, &status));
  EXPECT_EQ(count_of(status, MPI_INT), 100);
  EXPECT_EQ(back, mine);
}

TEST(MpiioBasics, TheNamesOfTheProfilingInterfaceAreTheLibrarysToo) {
  const SharedFolder folder;
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(
      PMPI_File_open(MPI_COMM_WORLD, folder.path("p").c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  const int number = world_rank();
  EXPECT_MPI(MPI_File_write_at(file, 4 * number, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset size = 0;
  EXPECT_MPI(PMPI_File_sync(file));
  barrier();
  EXPECT_MPI(PMPI_File_get_size(file, &size));
  EXPECT_EQ(size, 4 * world_size());
  EXPECT_MPI(PMPI_File_close(&file));
  EXPECT_EQ(file, MPI_FILE_NULL);
}

TEST(MpiioBasics, AHandleHasANumberForFortran) {
  const SharedFolder folder;
  const OpenFile one(folder.path("one")), other(folder.path("other"));
  EXPECT_EQ(MPI_File_f2c(MPI_File_c2f(one)), one.get());
  EXPECT_EQ(MPI_File_f2c(MPI_File_c2f(other)), other.get());
  EXPECT_NE(MPI_File_c2f(one), MPI_File_c2f(other));
  EXPECT_EQ(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)), MPI_FILE_NULL);
}

TEST(MpiioBasics, AFileOfPartOfTheRanks) {
  const SharedFolder folder;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &half);
  int rank = 0, size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  MPI_File file = MPI_FILE_NULL;
  const std::string path = folder.path(world_rank() % 2 == 0 ? "even" : "odd");
  EXPECT_MPI(MPI_File_open(half, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  MPI_Comm_free(&half);  // the file does not need it
  EXPECT_MPI(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT_EQ(ints_of(content(path)), numbers(size, 0));
}

}  // namespace
}  // namespace thalweg::test
