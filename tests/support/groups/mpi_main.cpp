// main() of the MPI tests: GoogleTest on every rank, one verdict. Rank 0 prints; another rank prints its failures only.
// Invariant: every rank runs the same tests in the same order, and all return the same exit status.
// TW_MPI_LEVEL selects the thread level of MPI_Init_thread: serialized, funneled, or multiple (default). TW_NODE: ranks are
// on several nodes (tests/nodes).

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, file, result.line_number(), result.message());
  }

 private:
  int rank_;
};

int wanted_level() {
  const char* const name = std::getenv("TW_MPI_LEVEL");
  const std::string_view level = name != nullptr ? name : "multiple";
  if (level == "funneled") return MPI_THREAD_FUNNELED;
  return level == "serialized" ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

}  // namespace

int main(int argc, char** argv) {
  // A hanging rank ends with SIGALRM and the launcher ends the run: a hang is a failure.
  constexpr unsigned kLongestSeconds = 280;
  ::alarm(kLongestSeconds);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted_level(), &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  testing::InitGoogleTest(&argc, argv);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));  // GoogleTest owns it
  }
  const int mine = RUN_ALL_TESTS();

  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return mine;  // a test finalized MPI; the launcher checks the exit status of every rank
  int worst = mine;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (std::getenv("TW_NODE") != nullptr) ::usleep(200'000);  // MPICH 4.0 over TCP: else MPI_Finalize hangs now and then
  MPI_Finalize();
  return worst;
}
