// group_mpi.h and group_omp.h together, from the view of an MPI program with OpenMP threads.
#include <gtest/gtest.h>
#include <mpi.h>
#include <omp.h>

#include <string>

#include "thalweg/group_mpi.h"
#include "thalweg/group_omp.h"

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

TEST(MpiGroup, HasTheNumbersOfItsCommunicator) {
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &group), TW_OK);

  EXPECT_EQ(tw_group_rank(group), world_rank());
  EXPECT_EQ(tw_group_size(group), world_size());
  EXPECT_STREQ(tw_group_kind(group), "mpi");
  std::int64_t sum = tw_group_rank(group);
  EXPECT_EQ(tw_group_allreduce(group, &sum, 1, TW_SUM), TW_OK);
  EXPECT_EQ(sum, world_size() * (world_size() - 1) / 2);
  tw_group_free(&group);
}

TEST(MpiGroup, TakesAFortranCommunicator) {
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi_f(MPI_Comm_c2f(MPI_COMM_WORLD), &group), TW_OK);

  EXPECT_EQ(tw_group_size(group), world_size());
  tw_group_free(&group);
}

TEST(MpiGroup, OutlivesTheCallersCommunicator) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_size() - world_rank(), &reversed);
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi(reversed, &group), TW_OK);
  MPI_Comm_free(&reversed);

  EXPECT_EQ(tw_group_rank(group), world_size() - 1 - world_rank());
  EXPECT_EQ(tw_group_barrier(group), TW_OK);
  tw_group_free(&group);
}

TEST(MpiGroup, RefusesWhatIsNoIntraCommunicator) {
  tw_group* group = nullptr;

  EXPECT_EQ(tw_group_mpi(MPI_COMM_NULL, &group), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("MPI_COMM_NULL"), std::string::npos);
  EXPECT_EQ(tw_group_mpi(MPI_COMM_WORLD, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(group, nullptr);
}

TEST(MpiGroup, MakesAHybridWithOpenMP) {
  omp_set_dynamic(0);
  tw_group* ranks = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &ranks), TW_OK);
  int below = 0;
  for (int rank = 0; rank < world_rank(); ++rank) below += 1 + rank % 3;
#pragma omp parallel num_threads(1 + world_rank() % 3)
  {
    tw_group* all = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(ranks, &all), TW_OK);
    EXPECT_EQ(tw_group_rank(all), below + omp_get_thread_num());
    std::int64_t ones = 1;
    EXPECT_EQ(tw_group_allreduce(all, &ones, 1, TW_SUM), TW_OK);
    EXPECT_EQ(ones, tw_group_size(all));
    tw_group_free(&all);
  }
  tw_group_free(&ranks);
}

// One thread of one rank cannot allocate its result: all threads of all ranks fail.
TEST(MpiGroup, AHybridThatFailsInOneThreadFailsInAll) {
  omp_set_dynamic(0);
  tw_group* ranks = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &ranks), TW_OK);
#pragma omp parallel num_threads(2)
  {
    const bool wrong = world_rank() == world_size() - 1 && omp_get_thread_num() == 1;
    tw_group* all = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(ranks, wrong ? nullptr : &all), TW_ERR_INVALID);
    EXPECT_EQ(all, nullptr);
  }
  tw_group_free(&ranks);
}

}  // namespace
