// Ranks, and threads of ranks, that make different collective calls on one open file at once: all calls fail, and none
// waits, then or later.
#include "support/groups/out_of_step.hpp"
#include "support/files/open_options.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/groups/process_mpi.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 100;  // time limit: then the program ends

using FileBody = std::function<void(tw_file*, int)>;
using VpBody = std::function<void(tw_vpfile*, int)>;

class MpiOutOfStep : public testing::Test {
 protected:
  void SetUp() override { ::alarm(kMostSeconds); }
  void TearDown() override { ::alarm(0); }

  tw_file* open(tw_group* group) const {
    constexpr int kFlags = TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE;
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, folder_.path("shared").c_str(), kFlags, nullptr, &file), TW_OK) << tw_last_error();
    return file;
  }
  tw_vpfile* open_vp(tw_group* group) const {
    const std::int64_t shape[] = {10};
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(group, folder_.path("vp").c_str(), TW_READ | TW_CREATE | TW_TRUNCATE,
                             OpenWith().shape(1, shape), &file),
              TW_OK)
        << tw_last_error();
    return file;
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiOutOfStep, CallsOnAFileAreRefused) {
  if (world_.size() == 1) GTEST_SKIP();
  refuse_all_pairs(world_.size(), calls_on_file(), [&](const FileBody& body) {
    body(open(world_.group()), world_.rank());
    world_.barrier();  // the next test creates the file anew
  });
}

TEST_F(MpiOutOfStep, CallsOnAVpfileAreRefused) {
  if (world_.size() == 1) GTEST_SKIP();
  refuse_all_pairs(world_.size(), calls_on_vpfile(), [&](const VpBody& body) {
    body(open_vp(world_.group()), world_.rank());
    world_.barrier();
  });
}

TEST_F(MpiOutOfStep, CallsOfThreadsOfRanksAreRefused) {
  const int threads = 2;
  refuse_all_pairs(threads * world_.size(), calls_on_file(), [&](const FileBody& body) {
    on_threads_of_ranks(world_, threads,
                        [&](tw_group* group) { body(open(group), static_cast<int>(tw_group_rank(group))); });
    world_.barrier();
  });
}

// With THALWEG_CHECK=1 (a run of its own, tests/CMakeLists.txt) calls on a group and on different handles are compared.
class MpiCallCheck : public MpiOutOfStep {
 protected:
  void SetUp() override {
    if (std::getenv("THALWEG_CHECK") == nullptr || world_.size() == 1) GTEST_SKIP();
    MpiOutOfStep::SetUp();
    ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &group_), TW_OK);
    first_ = open(group_);
    ASSERT_EQ(tw_multifile_open(group_, folder_.path("one.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &one_),
              TW_OK);
    ASSERT_EQ(tw_multifile_open(group_, folder_.path("two.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &two_),
              TW_OK);
  }
  void TearDown() override {
    if (group_ != nullptr) tw_group_free(&group_);
    MpiOutOfStep::TearDown();
  }
  // Rank 0 makes one call, all others the other one. No call waits, then or later.
  void refuse(const std::function<tw_status()>& of_rank_0, const std::function<tw_status()>& of_others) {
    EXPECT_EQ(world_.rank() == 0 ? of_rank_0() : of_others(), TW_ERR_INVALID);
    EXPECT_NE(std::string(tw_last_error()).find("task 0 is in"), std::string::npos) << tw_last_error();
    EXPECT_EQ(tw_group_barrier(group_), TW_ERR_INVALID);
  }
  void close_all() {
    EXPECT_NE(tw_file_close(&first_), TW_OK);
    EXPECT_NE(tw_multifile_close(&one_), TW_OK);
    EXPECT_NE(tw_multifile_close(&two_), TW_OK);
  }
  tw_status add_up() {
    std::int64_t one = 1;
    return tw_group_allreduce(group_, &one, 1, TW_SUM);
  }

  tw_group* group_ = nullptr;
  tw_file* first_ = nullptr;
  tw_multifile *one_ = nullptr, *two_ = nullptr;
};

TEST_F(MpiCallCheck, LikeCallsGoOn) {
  EXPECT_EQ(tw_group_barrier(group_), TW_OK);
  EXPECT_EQ(add_up(), TW_OK);
  EXPECT_EQ(tw_file_close(&first_), TW_OK);
  EXPECT_EQ(tw_multifile_close(&two_), TW_OK);
  EXPECT_EQ(tw_multifile_close(&one_), TW_OK);
}

TEST_F(MpiCallCheck, ABarrierAgainstAReductionIsRefused) {
  refuse([&] { return tw_group_barrier(group_); }, [&] { return add_up(); });
  close_all();
}

TEST_F(MpiCallCheck, ASyncAgainstABarrierIsRefused) {
  refuse([&] { return tw_file_sync(first_); }, [&] { return tw_group_barrier(group_); });
  close_all();
}

TEST_F(MpiCallCheck, AnOpenAgainstABarrierIsRefused) {
  tw_multifile* third = nullptr;
  refuse(
      [&] {
        return tw_multifile_open(group_, folder_.path("three.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &third);
      },
      [&] { return tw_group_barrier(group_); });
  close_all();
}

TEST_F(MpiCallCheck, ClosesInDifferentOrderAreRefused) {
  const bool swapped = world_.rank() == 0;
  refuse([&] { return tw_multifile_close(&two_); }, [&] { return tw_multifile_close(&one_); });
  EXPECT_NE(tw_multifile_close(swapped ? &one_ : &two_), TW_OK);
  EXPECT_NE(tw_file_close(&first_), TW_OK);
}

TEST_F(MpiCallCheck, AnAbandonedFileEndsTheCheckOnly) {
  const bool leaves = world_.rank() == 0;
  EXPECT_EQ(leaves ? tw_multifile_abandon(&one_) : tw_multifile_close(&one_), leaves ? TW_OK : TW_ERR_NOT_CLOSED);
  EXPECT_EQ(tw_multifile_close(&two_), TW_OK);
  EXPECT_EQ(tw_file_close(&first_), TW_OK);
}

}  // namespace
}  // namespace thalweg::test
