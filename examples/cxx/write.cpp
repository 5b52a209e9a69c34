// Every MPI rank writes its own logical file; all of them are in one multifile.
//     mpiexec -n 4 example_cxx_write dump.tw
#include <mpi.h>

#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const path = argc > 1 ? argv[1] : "dump.tw";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rank + static_cast<double>(i) / 1000;

  {
    const auto group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);
    thalweg::Multifile file(group, path, TW_CREATE | TW_TRUNCATE);  // collective
    file.write(values);                                             // independent, any number of times, any amount
    file.close();                                                   // collective
  }
  MPI_Finalize();
}
