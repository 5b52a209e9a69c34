// The conformance bodies on OpenMP threads, and group_omp.h from a program's view.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <memory>

#include "capi/handles.hpp"
#include "support/groups/group_bodies.hpp"
#include "thalweg/group_omp.h"

namespace thalweg::test {
namespace {

class OmpGroup : public testing::TestWithParam<int> {};

TEST_P(OmpGroup, PassesTheConformanceBodies) {
  omp_set_dynamic(0);
  for (const GroupBody& body : group_bodies()) {
#pragma omp parallel num_threads(GetParam())
    {
      tw_group* group = nullptr;
      EXPECT_EQ(tw_group_omp(&group), TW_OK);
      EXPECT_EQ(tw_group_size(group), omp_get_num_threads());
      EXPECT_EQ(tw_group_rank(group), omp_get_thread_num());
      const Status status = run(body.run(*group->impl));
      EXPECT_TRUE(status.ok()) << status.message();
      tw_group_free(&group);
    }

    ASSERT_FALSE(HasFailure()) << "in " << body.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, OmpGroup, testing::Values(1, 2, 3, 5, 16), testing::PrintToStringParamName());

TEST(OmpGroup, IsATeamOfOneOutsideOfARegion) {
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_omp(&group), TW_OK);

  EXPECT_EQ(tw_group_size(group), 1);
  EXPECT_EQ(tw_group_barrier(group), TW_OK);
  tw_group_free(&group);
}

// The innermost region counts: each thread of the outer region has its own team.
TEST(OmpGroup, OfNestedRegionsAreSeparate) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  std::atomic<int> sum{0};
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(3)
    {
      tw_group* group = nullptr;
      EXPECT_EQ(tw_group_omp(&group), TW_OK);
      std::int64_t ones = 1;
      EXPECT_EQ(tw_group_allreduce(group, &ones, 1, TW_SUM), TW_OK);
      sum += static_cast<int>(ones);
      tw_group_free(&group);
    }
  }
  omp_set_max_active_levels(1);

  EXPECT_EQ(sum.load(), 6 * 3);
}

TEST(OmpGroup, FailsOnAllThreadsWhenOneHasNowhereToPutIt) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(4)
  {
    tw_group* group = nullptr;
    EXPECT_EQ(tw_group_omp(omp_get_thread_num() == 2 ? nullptr : &group), TW_ERR_INVALID);
    EXPECT_EQ(group, nullptr);
  }
}

// One process whose threads are all tasks; tests/mpi has many processes.
TEST(OmpGroup, MakesAHybrid) {
  omp_set_dynamic(0);
  tw_group* ranks = nullptr;
  ASSERT_EQ(tw_group_self(&ranks), TW_OK);
#pragma omp parallel num_threads(3)
  {
    tw_group* group = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(ranks, &group), TW_OK);
    EXPECT_STREQ(tw_group_kind(group), "hybrid");
    EXPECT_EQ(tw_group_rank(group), omp_get_thread_num());
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    tw_group_free(&group);
  }
  tw_group_free(&ranks);
}

}  // namespace
}  // namespace thalweg::test
