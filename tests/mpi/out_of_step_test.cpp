// Ranks, and threads of ranks, that make different collective calls on one open file at once: all calls fail, and none
// waits, then or later.
#include "support/out_of_step.hpp"

#include <unistd.h>

#include "support/process_mpi.hpp"

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
    constexpr int kFlags = TW_FILE_READ | TW_FILE_WRITE | TW_FILE_CREATE | TW_FILE_TRUNCATE;
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, folder_.path("shared").c_str(), kFlags, nullptr, &file), TW_OK) << tw_last_error();
    return file;
  }
  tw_vpfile* open_vp(tw_group* group) const {
    const std::int64_t shape[] = {10};
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(group, folder_.path("vp").c_str(), "w+", 1, shape, nullptr, &file), TW_OK)
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

}  // namespace
}  // namespace thalweg::test
