// Any number of ranks reads the logical files of another number of ranks. Here each rank selects its logical files:
// rank r of R takes r, r + R, r + 2 R, ...
//     mpiexec -n 3 example_cxx_restart dump.tw
#include <mpi.h>

#include <thalweg/group_mpi.h>
#include <cstdio>
#include <thalweg/thalweg.hpp>
#include <vector>

namespace {

void read_mine(const char* path) {
  const auto group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);
  const std::int64_t rank = tw_group_rank(group.get()), n_ranks = tw_group_size(group.get());
  const std::int64_t n_logical = thalweg::Multifile(path, TW_READ).summarize().n_logical;

  std::vector<std::int64_t> mine;
  for (std::int64_t i = rank; i < n_logical; i += n_ranks) mine.push_back(i);
  thalweg::Multifile file(group, path, TW_READ, thalweg::Options().ranks(-1, mine));
  std::vector<double> values(1000);
  for (const std::int64_t i : mine) {
    file.seek_to(i, 0);
    const std::size_t n_read = file.read(values);
    std::printf("rank %d of %d: logical file %d holds %zu values from %g on\n", static_cast<int>(rank),
                static_cast<int>(n_ranks), static_cast<int>(i), n_read, values.front());
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    read_mine(argc > 1 ? argv[1] : "dump.tw");
  } catch (const thalweg::Error& error) {
    std::fprintf(stderr, "%s: %s\n", tw_status_name(error.status()), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
