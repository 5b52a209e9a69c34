// Ranks, and threads of ranks, one of which abandons an open file.
#include <unistd.h>

#include "support/groups/process_mpi.hpp"
// The types inside the library have the names of those of C++: their headers come first.
#include "support/crash/abandoned_cpp.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 100;  // time limit: then the program ends

class MpiAbandon : public testing::Test {
 protected:
  void SetUp() override {
    if (world_.size() == 1) GTEST_SKIP();
    ::alarm(kMostSeconds);
  }
  void TearDown() override { ::alarm(0); }

  // The peers meet in an MPI call of their own.
  template <class Kind>
  void give_up_by_ranks() {
    give_up_in_all_ways<Kind>(world_.group(), folder_.path("given"), [&] { MPI_Barrier(MPI_COMM_WORLD); });
  }
  template <class Kind>
  void give_up_by_threads_of_ranks() {
    on_threads_of_ranks(world_, 2, [&](tw_group* group) {
      give_up_in_all_ways<Kind>(group, folder_.path("given"), [&] { EXPECT_EQ(tw_group_barrier(group), TW_OK); });
    });
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiAbandon, AMultifile) { give_up_by_ranks<GivenMultifile>(); }
TEST_F(MpiAbandon, AVpfile) { give_up_by_ranks<GivenVpfile>(); }
TEST_F(MpiAbandon, ASharedFile) { give_up_by_ranks<GivenFile>(); }
TEST_F(MpiAbandon, AMultifileOfThreads) { give_up_by_threads_of_ranks<GivenMultifile>(); }
TEST_F(MpiAbandon, AVpfileOfThreads) { give_up_by_threads_of_ranks<GivenVpfile>(); }
TEST_F(MpiAbandon, ASharedFileOfThreads) { give_up_by_threads_of_ranks<GivenFile>(); }

TEST_F(MpiAbandon, ACppMultifileByCall) { give_up_by_ranks<GivenCppMultifile<Leave::by_call>>(); }
TEST_F(MpiAbandon, ACppMultifileByException) { give_up_by_ranks<GivenCppMultifile<Leave::by_exception>>(); }
TEST_F(MpiAbandon, ACppVpfileByException) { give_up_by_ranks<GivenCppVpfile<Leave::by_exception>>(); }
TEST_F(MpiAbandon, ACppFileByException) { give_up_by_ranks<GivenCppFile<Leave::by_exception>>(); }
TEST_F(MpiAbandon, ACppMultifileOfThreadsByException) {
  give_up_by_threads_of_ranks<GivenCppMultifile<Leave::by_exception>>();
}
TEST_F(MpiAbandon, ACppVpfileOfThreadsByException) {
  give_up_by_threads_of_ranks<GivenCppVpfile<Leave::by_exception>>();
}
TEST_F(MpiAbandon, ACppFileOfThreadsByException) { give_up_by_threads_of_ranks<GivenCppFile<Leave::by_exception>>(); }

}  // namespace
}  // namespace thalweg::test
